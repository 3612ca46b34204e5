class Base:
    on = False
    kind = "base"
    def check(self):
        if self.on:
            print("c12")
        if self.kind == "d":
            print("c12b")
        if self.size == 5:
            print("c12c")
    @property
    def size(self):
        return 0
class D(Base):
    on = True
    kind = "d"
    @property
    def size(self):
        return 5


def run():
    D().check()
