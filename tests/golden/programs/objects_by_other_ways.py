import weakref
import copy
import types
class C:
    def __init__(self):
        self.on = False
        self.items = [1]
    def check(self):
        if self.on:
            print("proxy on")


def run():
    c = C()
    weakref.proxy(c).on = True
    c.check()
    r = weakref.ref(c)
    r().on = False
    if not c.on:
        print("ref off")
    d = copy.copy(c)
    d.items.append(2)
    if len(c.items) == 2:
        print("shallow")
    e = copy.deepcopy(c)
    e.items.append(3)
    if len(c.items) == 2:
        print("deep")
    e.__dict__.update(c.__dict__)
    if e.items is c.items:
        print("dict shared")
    ns = types.SimpleNamespace(**vars(c))
    ns.on = 5
    if not c.on:
        print("ns apart")
    m = types.MethodType(lambda self: setattr(self, "on", 7), c)
    m()
    if c.on == 7:
        print("methodtype")
    f = C.check
    f(c)
    getattr(c, "check")()
    bound = c.check
    bound()
    object.__setattr__(c, "zz", 1)
    if c.zz == 1 and "zz" in vars(c) and hasattr(c, "zz"):
        print("zz")
    delattr(c, "zz")
    if not hasattr(c, "zz"):
        print("no zz")
    c.__dict__["yy"] = 2
    if c.yy == 2:
        print("yy")
    if getattr(c, "nope", "dflt") == "dflt":
        print("dflt")
    for name_ in ("p1", "p2"):
        setattr(c, name_, name_.upper())
    if c.p1 == "P1" and c.p2 == "P2":
        print("set by loop")
