import weakref
class C:
    def __init__(self):
        self.on = False
    def check(self):
        if self.on:
            print("c39")


def run():
    c = C()
    p = weakref.proxy(c)
    p.on = True
    c.check()
