class Base:
    def __init__(self):
        self.on = False
    def check(self):
        if self.on:
            print("c1")
class Mix:
    def load(self):
        self.on = True
class D(Mix, Base):
    pass


def run():
    d = D()
    d.load()
    d.check()
