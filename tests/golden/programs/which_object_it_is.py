class Current:
    held = None


class Engine:
    def __init__(self, name):
        self.name = name
        self.other = None

    def register(self):
        Current.held = self

    def check(self):
        if Current.held is self:
            print("current")
        if Current.held == self:
            print("equal")
        if self.other is not self:
            print("another")
        if self.other != self:
            print("not equal")


def run():
    first, second = Engine("first"), Engine("second")
    first.other = second
    first.register()
    first.check()
