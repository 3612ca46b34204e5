class C:
    def __init__(self):
        self._on = False
    @property
    def on(self):
        return self._on
    @on.setter
    def on(self, v):
        self._on = v
    def check(self):
        if self._on:
            print("c8")
        if self.on:
            print("c8b")


def run():
    c = C()
    c.on = True
    c.check()
