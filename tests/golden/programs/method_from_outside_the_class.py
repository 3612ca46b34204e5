class C:
    def __init__(self):
        self.on = False
    def load(self):
        pass
    def check(self):
        if self.on:
            print("c2")
def patched(self):
    self.on = True
C.load = patched


def run():
    d = C()
    d.load()
    d.check()
