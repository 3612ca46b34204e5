class C:
    def __init__(self, items):
        self.items = items
        self.s = {1, 2, 3}
def addto(xs, x):
    xs += [x]
    return xs
def rebind(xs):
    xs = xs + [9]
    return xs


def run():
    a = [1]
    c = C(a)
    a.append(2)
    if c.items == [1, 2]:
        print("alias")
    addto(a, 3)
    if c.items == [1, 2, 3]:
        print("iadd")
    rebind(a)
    if len(a) == 3:
        print("rebind")
    s = c.s
    s -= {1}
    if c.s == {2, 3}:
        print("set isub")
    s &= {2}
    if c.s == {2}:
        print("set iand")
    s ^= {5}
    if c.s == {2, 5}:
        print("set ixor")
    b = a[:]
    b.append(4)
    if len(a) == 3:
        print("slice copy")
    a[1:2] = [7, 8]
    if a == [1, 7, 8, 3]:
        print("slice assign")
    del a[0]
    if a[0] == 7:
        print("del")
    m = [[0] * 2] * 2
    m[0][0] = 1
    if m[1][0] == 1:
        print("shared rows")
    d = {"a": a}
    d2 = dict(d)
    d2["a"].append(1)
    if a[-1] == 1:
        print("shallow")
    t = (a,)
    t[0].append(2)
    if a[-1] == 2:
        print("tuple holds")
    x = y = {}
    x["k"] = 1
    if y:
        print("xy")
    d3 = dict.fromkeys("ab", [])
    d3["a"].append(1)
    if d3["b"] == [1]:
        print("fromkeys shared")
    e = a
    a = a + [1]
    if e is not a:
        print("not same")
    a *= 1
    z = e
    e *= 2
    if z is e and len(z) == len(e):
        print("imul")
    from collections import deque
    q = deque([1, 2])
    q.rotate(1)
    if q[0] == 2:
        print("rot")
    q.extendleft([5])
    if q[0] == 5:
        print("extl")
