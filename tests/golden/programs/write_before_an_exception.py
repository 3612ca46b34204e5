class C:
    def __init__(self):
        self.on = False
        self.two = False
    def load(self):
        self.on = True
        int("x")
        self.two = True
    def check(self):
        try:
            self.load()
        except ValueError:
            print("handler")
        if self.on:
            print("partial")
        if self.two:
            print("no")


def run():
    C().check()
