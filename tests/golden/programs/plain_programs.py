import os
import sys
try:
    import json as fastjson
except ImportError:
    fastjson = None
if os.environ.get("NOPE"):
    MODE = "a"
elif len(sys.argv) > 5:
    MODE = "b"
else:
    MODE = "c"
def pick():
    if MODE == "c":
        return "c"
    return "x"
LEVELS = {n: i for i, n in enumerate(("lo", "hi"))}
class Conf:
    debug = MODE == "c"
    paths = [os.path.join("/a", p) for p in ("b", "c")]
    def __init__(self, **kw):
        for k, v in kw.items():
            if not hasattr(type(self), k) and k != "extra":
                raise TypeError(k)
            setattr(self, k, v)
    @classmethod
    def from_env(cls, env=None):
        env = os.environ if env is None else env
        return cls(**{k[4:].lower(): v for k, v in env.items() if k.startswith("APP_")})
    def merged(self, **kw):
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.__dict__.update(kw)
        return new
def parse(spec):
    out = {}
    for part in spec.split(","):
        key, sep, val = part.partition("=")
        if not sep:
            out[key] = True
            continue
        try:
            out[key] = int(val)
        except ValueError:
            out[key] = val
    return out
def nested(d, path, default=None):
    cur = d
    for p in path.split("."):
        if not isinstance(cur, dict) or p not in cur:
            return default
        cur = cur[p]
    return cur


def run():
    if pick() == "c" and Conf.debug:
        print("c")
    if fastjson is not None and fastjson.loads("1") == 1:
        print("json")
    if LEVELS["hi"] == 1:
        print("hi")
    if Conf.paths[1] == "/a/c":
        print("paths")
    c = Conf.from_env({"APP_DEBUG": "0", "OTHER": "1"})
    if c.debug == "0":
        print("env")
    m = c.merged(debug=5, extra=1)
    if m.debug == 5 and m.extra == 1 and c.debug == "0":
        print("merged")
    try:
        Conf(nope=1)
    except TypeError as e:
        if str(e) == "nope":
            print("nope")
    p = parse("a,b=3,c=x=y")
    if p == {"a": True, "b": 3, "c": "x=y"}:
        print("parse")
    if nested({"a": {"b": 1}}, "a.b") == 1 and nested({}, "a.b", 5) == 5:
        print("nested")
    while True:
        if p.pop("a", None):
            continue
        if "b" in p:
            del p["b"]
        else:
            break
    else:
        print("no")
    if p == {"c": "x=y"}:
        print("popped")
    for i in range(5):
        if i == 3:
            break
    else:
        print("no")
    if i == 3:
        print("i3")
    n = 0
    while n < 100:
        n += 7
    if n == 105:
        print("n105")
    total = 0
    for x, y in zip(range(3), "abc"):
        total += x * ord(y)
    if total == 98 + 2 * 99:
        print("total")
    seen = set()
    dups = [x for x in [1, 2, 1] if x in seen or seen.add(x)]
    if dups == [1]:
        print("dups")
    grid = [[0] * 3 for _ in range(2)]
    grid[1][2] = 5
    if sum(map(sum, grid)) == 5 and grid[0][2] == 0:
        print("grid")
    a, *b, (c1, d) = 1, 2, 3, (4, 5)
    if b == [2, 3] and d == 5:
        print("unp")
    s = "abc"
    if s[::-1] == "cba" and s[-1:] == "c" and s[5:] == "":
        print("slices")
    key = lambda t: (-t[1], t[0])
    if sorted([("a", 1), ("b", 2), ("c", 2)], key=key)[0][0] == "b":
        print("sortkey")
    def fib(n, memo={}):
        if n < 2:
            return n
        if n not in memo:
            memo[n] = fib(n - 1) + fib(n - 2)
        return memo[n]
    if fib(10) == 55:
        print("fib")
    fs = [lambda: i2 for i2 in range(3)]
    if fs[0]() == 2:
        print("late binding")
    def outer():
        x = 1
        def inner():
            nonlocal x
            x += 1
            return x
        inner()
        return x, inner
    if outer()[0] == 2 and outer()[1]() == 3:
        print("nonlocal")
