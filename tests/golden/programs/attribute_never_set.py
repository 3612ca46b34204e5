class C:
    def __init__(self):
        try:
            self.on = int("nope")
        except ValueError:
            pass
    def check(self):
        if hasattr(self, "on"):
            print("no")
        else:
            print("absent")
        if getattr(self, "on", None) is None:
            print("none")
        try:
            self.on
        except AttributeError:
            print("attr error")


def run():
    C().check()
