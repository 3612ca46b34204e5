import dataclasses
from dataclasses import dataclass, field, asdict, astuple, fields, replace, InitVar, KW_ONLY
from typing import ClassVar, Optional
@dataclass(order=True, frozen=True)
class V:
    major: int
    minor: int = 0
@dataclass
class Base:
    a: int = 1
    b: Optional[str] = None
    c: ClassVar[int] = 9
    d: InitVar[int] = 3
    e: list = field(default_factory=list)
    f_: int = field(init=False, default=4)
    _: KW_ONLY
    g_: int = 5
    def __post_init__(self, d):
        self.h = d
@dataclass
class Child(Base):
    a: int = 2
    z: int = 0
    def __post_init__(self, d):
        super().__post_init__(d)
        self.z = self.a + self.h
@dataclass(slots=True)
class Sl:
    x: int = 1
@dataclass(eq=False)
class NoEq:
    x: int = 1


def run():
    if V(1, 2) < V(1, 3) and V(2) > V(1, 9):
        print("order")
    if V(1) == V(1) and hash(V(1)) == hash(V(1)):
        print("eq")
    try:
        V(1).major = 2
    except dataclasses.FrozenInstanceError:
        print("frozen")
    b = Base(5, d=7, g_=6)
    if b.a == 5 and b.h == 7 and b.g_ == 6 and b.f_ == 4 and b.c == 9:
        print("base")
    try:
        Base(1, "x", 3, [], 5)
    except TypeError:
        print("too many")
    c = Child()
    if c.z == 5 and c.a == 2:
        print("child")
    if [x.name for x in fields(c)] == ["a", "b", "e", "f_", "g_", "z"]:
        print("fields")
    if "d" not in asdict(c) and asdict(c)["z"] == 5:
        print("asdict")
    r = replace(c, a=10, d=1)
    if r.z == 11 and r is not c:
        print("replace")
    if astuple(V(1, 2)) == (1, 2):
        print("astuple")
    if NoEq() != NoEq():
        print("noeq")
    if repr(V(1)) == "V(major=1, minor=0)":
        print("repr")
    if Base().e is not Base().e:
        print("own list")
    if dataclasses.is_dataclass(c) and dataclasses.is_dataclass(Child) and not dataclasses.is_dataclass(3):
        print("isdc")
    if Child.__dataclass_fields__["a"].default == 2:
        print("fielddefault")
