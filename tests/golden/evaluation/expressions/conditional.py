from outside import unknown


def main():
    xs = [i for i in (1, 2, 3) if i > 5]
    if xs:
        a = 1  # never
    ys = {i: str(i) for i in (1, 2) if i}
    if ys == {1: "1", 2: "2"}:
        a = 2  # always
    b = "x" if a == 2 else "y"
    if b == "y":
        a = 3  # never
    c = None or 0 or "last"
    if c != "last":
        a = 4  # never
    if (n := len(ys)) > 1:
        a = n  # always
    d = 1 if unknown else 2
    if d > 2:
        a = 5  # never
    if d == 1:
        a = 6  # may
    if 0 < d < 3:
        a = 7  # always
    e = unknown and False
    if e is True:
        a = 8  # may
    if any(i == 2 for i in ys) and not all(i == 2 for i in ys):
        a = 9  # always
    s = f"{a}-{b}"
    if s == "9-x":
        return 1  # always
    return 2  # never


def start():
    main()


start()
