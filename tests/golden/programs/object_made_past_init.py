class C:
    def __init__(self):
        self.on = False
    @classmethod
    def build(cls, v):
        obj = cls.__new__(cls)
        obj.on = v
        return obj
    def check(self):
        if self.on:
            print("c14")


def run():
    C.build(True).check()
