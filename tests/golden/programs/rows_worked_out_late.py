seen_ = []
def add_(x):
    seen_.append(x)
    return x


def run():
    m = map(add_, [1, 2, 3])
    if not seen_:
        print("lazy")
    list(m)
    if len(seen_) == 3:
        print("all")
    m2 = (add_(x) for x in [4])
    if len(seen_) == 3:
        print("still three")
    f2 = filter(add_, [5])
    if len(seen_) == 3:
        print("still three 2")
    z = zip(map(add_, [6]), [1])
    if len(seen_) == 3:
        print("still three 3")
