log = []
def gen_():
    log.append(1)
    yield 1
    log.append(2)
    yield 2
    log.append(3)
def never_run():
    log.append("x")
    yield 1


def run():
    g = gen_()
    never_run()
    if log:
        print("no: nothing ran")
    first = next(g)
    if log == [1]:
        print("one")
    if len(log) > 2:
        print("no: three")
