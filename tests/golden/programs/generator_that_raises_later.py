def gen_(n):
    if n > 2:
        raise ValueError(n)
    yield n


def run():
    g = gen_(3)
    print("still fine")
    try:
        next(g)
    except ValueError:
        print("raised now")
