


def run():
    it = iter([1, 2, 3])
    a = next(it)
    rest = list(it)
    if rest == [2, 3]:
        print("rest")
    if list(it) == []:
        print("exhausted")
    it2 = iter([1, 2])
    for x in it2:
        break
    if next(it2) == 2:
        print("two")
    d = iter({"a": 1})
    if next(d) == "a":
        print("a")
    e = enumerate(["x", "y"])
    next(e)
    if next(e) == (1, "y"):
        print("y")
    r = reversed([1, 2])
    if next(r) == 2:
        print("rev")
    z = zip([1, 2], [3, 4])
    next(z)
    if list(z) == [(2, 4)]:
        print("zip")
