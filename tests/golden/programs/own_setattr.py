class C:
    def __init__(self):
        self.on = False
    def __setattr__(self, k, v):
        self.__dict__[k] = True
    def check(self):
        if self.on:
            print("c9")


def run():
    c = C()
    c.check()
