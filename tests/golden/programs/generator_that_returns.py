def gen_():
    yield 1
    return "done"
def outer():
    r = yield from gen_()
    if r == "done":
        print("done")
    yield 5


def run():
    if list(outer()) == [1, 5]:
        print("list ok")
