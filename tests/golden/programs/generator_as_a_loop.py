def gen_():
    got = yield 0
    while got is not None:
        print("got", got)
        got = yield got + 1
    print("none")


def run():
    g = gen_()
    next(g)
    v = g.send(5)
    if v == 6:
        print("six")
    try:
        g.send(None)
    except StopIteration:
        print("stopped")
