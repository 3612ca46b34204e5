import abc
class A:
    name = "A"
    def who(self):
        return "A" + self.name
    def chain(self):
        return ["A"]
class B(A):
    def chain(self):
        return ["B"] + super().chain()
class C2(A):
    name = "C2"
    def chain(self):
        return ["C2"] + super().chain()
class D2(B, C2):
    def chain(self):
        return ["D2"] + super().chain()
class Abs(abc.ABC):
    @abc.abstractmethod
    def go_(self): ...
    @property
    @abc.abstractmethod
    def prop(self): ...
class Impl(Abs):
    def go_(self):
        return 1
    prop = 5
class Meta(type):
    registry = {}
    def __new__(mcs, name, bases, ns, **kw):
        cls = super().__new__(mcs, name, bases, ns)
        mcs.registry[name] = cls
        return cls
    def __getattr__(cls, item):
        return "meta " + item
    def __contains__(cls, item):
        return item == 3
    @property
    def mp(cls):
        return cls.__name__
class M(metaclass=Meta):
    pass
class Plug:
    subs = []
    def __init_subclass__(cls, /, tag=None, **kw):
        super().__init_subclass__(**kw)
        cls.tag = tag
        Plug.subs.append(cls)
    def __class_getitem__(cls, item):
        return (cls.__name__, item)
class P1(Plug, tag="one"):
    pass
class P2(P1):
    pass
class Virt(abc.ABC):
    @classmethod
    def __subclasshook__(cls, other):
        return hasattr(other, "quack") or NotImplemented
class Duck:
    quack = 1
@Virt.register
class Reg:
    pass
class Outer:
    x = 1
    class Inner:
        y = 2
        def get(self):
            return Outer.x + self.y


def run():
    if D2().chain() == ["D2", "B", "C2", "A"]:
        print("mro")
    if D2().who() == "AC2":
        print("who")
    if [k.__name__ for k in D2.__mro__][:3] == ["D2", "B", "C2"]:
        print("mro names")
    if Impl().go_() == 1 and Impl().prop == 5:
        print("impl")
    if M.zip == "meta zip" and 3 in M and M.mp == "M":
        print("meta")
    if P1.tag == "one" and P2.tag is None and Plug.subs == [P1, P2]:
        print("plug")
    if Plug[int] == ("Plug", int):
        print("cgi")
    if isinstance(Duck(), Virt):
        print("hook")
    if isinstance(Reg(), Virt) and issubclass(Reg, Virt):
        print("registered")
    if Outer.Inner().get() == 3:
        print("inner")
    if A.__subclasses__() == [B, C2]:
        print("subclasses")
    if type(D2()).__name__ == "D2" and D2.__bases__ == (B, C2):
        print("bases")
    if super(B, D2()).chain() == ["C2", "A"]:
        print("super2")
    T = type("T", (A,), {"name": "T", "extra": lambda self: 3})
    if T().who() == "AT" and T().extra() == 3:
        print("type3")
    if isinstance(D2(), (int, A)) and not isinstance(3, A):
        print("isinst")
