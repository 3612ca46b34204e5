class C:
    def __init__(self):
        self.on = False
    def steps(self):
        self.on = True
        yield 1
        self.on = False
    def check(self):
        for _ in self.steps():
            self.look()
    def look(self):
        if self.on:
            print("yields")


def run():
    C().check()
