class C:
    def __init__(self):
        self.on = False
        self.two = False
        self.three = False
        self.four = False
    def load(self):
        (self.on, y) = 1, 2
        [self.two] = [1]
        *self.three, z = 1, 2
        for self.four in (1, 2):
            pass
    def check(self):
        self.load()
        if self.on:
            print("c7 1")
        if self.two:
            print("c7 2")
        if self.three:
            print("c7 3")
        if self.four:
            print("c7 4")


def run():
    C().check()
