class Base:
    def __init__(self, on=False, **kw):
        self.on = on
    def check(self):
        if self.on:
            print("c16")
class D(Base):
    def __init__(self, **kw):
        super().__init__(**kw)


def run():
    D(on=True).check()
