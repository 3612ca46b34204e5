class Inner:
    on = True
    def __init__(self):
        self.val = 3
class C:
    def __init__(self):
        self.inner = Inner()
    def __getattr__(self, k):
        return getattr(self.inner, k)
    def check(self):
        if self.on:
            print("c10")
        if self.val == 3:
            print("c10b")
        if getattr(self, "val", 0) == 3:
            print("c10c")
        if hasattr(self, "val"):
            print("c10d")


def run():
    C().check()
