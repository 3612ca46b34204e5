import enum
class Mode(enum.Enum):
    A = "a"
    B = "b"
    @classmethod
    def _missing_(cls, value):
        if value == "c":
            print("missing c")
            return cls.A
        return None
    @property
    def fast(self):
        return self is Mode.A
def f(m):
    if Mode(m).fast:
        print("fast")
    if Mode(m) is Mode.A:
        print("is A")
class Fl(enum.Flag):
    X = enum.auto()
    Y = enum.auto()
    XY = X | Y
def g(v):
    if v & Fl.Y:
        print("has y")
    if Fl.Y in v:
        print("in")
    if v.value == 3:
        print("3")
    if v is Fl.XY:
        print("xy")


def run():
    f("c")
    g(Fl.X | Fl.Y)
