class C:
    def __init__(self):
        self.on = False
    def gen(self):
        self.on = yield 1
    def check(self):
        g = self.gen()
        next(g)
        try:
            g.send(True)
        except StopIteration:
            pass
        if self.on:
            print("c5")


def run():
    C().check()
