import dataclasses
@dataclasses.dataclass
class Pt:
    x: int
    y: int = 0
class Q:
    __match_args__ = ("a",)
    def __init__(self, a):
        self.a = a
class Color:
    RED = 1
def f(v):
    match v:
        case None:
            return "none"
        case True:
            return "true"
        case Color.RED:
            return "red"
        case int(n) if n > 100:
            return "big"
        case int() | float():
            return "num"
        case str(s) if s.startswith("a"):
            return "a"
        case [x, y, *rest] if not rest:
            return "two_"
        case [first, *_]:
            return first
        case []:
            return "empty"
        case {"k": kk, **rest}:
            return kk, len(rest)
        case {}:
            return "dict"
        case Pt(0, y=yy):
            return "pt0", yy
        case Pt(x=xx):
            return "pt", xx
        case Q(5 as five):
            return five
        case (1, 2) as t:
            return t
        case _:
            return "other"


def run():
    got = [f(None), f(True), f(1), f(200), f(2.5), f("abc"), f("b"), f([1, 2]), f((7,)), f([]), f({"k": 1, "z": 2}), f({"q": 1}), f(Pt(0, 5)), f(Pt(3)), f(Q(5)), f(Q(6)), f({1})]
    if got[0] == "none":
        print(0)
    if got[1] == "true":
        print(1)
    if got[2] == "red":
        print(2)
    if got[3] == "big":
        print(3)
    if got[4] == "num":
        print(4)
    if got[5] == "a":
        print(5)
    if got[6] == "other":
        print(6)
    if got[7] == "two_":
        print(7)
    if got[8] == 7:
        print(8)
    if got[9] == "empty":
        print(9)
    if got[10] == (1, 1):
        print(10)
    if got[11] == "dict":
        print(11)
    if got[12] == ("pt0", 5):
        print(12)
    if got[13] == ("pt", 3):
        print(13)
    if got[14] == 5:
        print(14)
    if got[15] == "other":
        print(15)
    if got[16] == "other":
        print(16)
