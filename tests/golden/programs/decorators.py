import functools
def logged(fn):
    @functools.wraps(fn)
    def inner(*args, **kwargs):
        inner.calls += 1
        return fn(*args, **kwargs)
    inner.calls = 0
    return inner
def with_arg(n=1, *, opt=None):
    def deco(fn):
        def inner(*a, **k):
            return fn(*a, **k) + n
        inner.orig = fn
        return inner
    return deco
class Count:
    def __init__(self, fn):
        self.fn = fn
        self.n = 0
    def __call__(self, *a):
        self.n += 1
        return self.fn(*a)
    def __get__(self, obj, owner):
        return functools.partial(self.__call__, obj)
@logged
@with_arg(5, opt=1)
def f(x):
    return x
class K:
    @Count
    def m(self, x):
        return x * 2
    @classmethod
    @functools.lru_cache
    def c(cls):
        return 9
    @property
    @functools.lru_cache
    def p(self):
        return 8
    @staticmethod
    def s(x=1, *rest, k=2, **kw):
        return x, rest, k, kw
@Count
def g(x):
    return x


def run():
    if f(1) == 6 and f.calls == 1 and f.__name__ == "f":
        print("f")
    if K().m(3) == 6:
        print("m")
    if K.c() == 9 and K().p == 8:
        print("cp")
    if K.s(1, 2, 3, k=4, z=5) == (1, (2, 3), 4, {"z": 5}):
        print("s")
    g(1)
    g(2)
    if g.n == 2:
        print("count")
    if (lambda x, /, y, *, z: (x, y, z))(1, y=2, z=3) == (1, 2, 3):
        print("posonly")
    def kw(**k):
        k["a"] = 1
        return k
    d = {"b": 2}
    if "a" not in d and kw(**d) == {"a": 1, "b": 2} and "a" not in d:
        print("kw copy")
    def va(*a):
        return a
    xs = [1, 2]
    if va(*xs, 3) == (1, 2, 3) and va(*"ab") == ("a", "b"):
        print("va")
