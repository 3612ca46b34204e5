class C:
    def __init__(self):
        self.on = False
        self.cb = lambda: setattr(self, "on", True)
    def check(self):
        self.cb()
        if self.on:
            print("c4")


def run():
    C().check()
