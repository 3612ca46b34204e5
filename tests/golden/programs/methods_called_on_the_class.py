class Base:
    def __init__(self, size=None, name="none"):
        self.size = size
        if size == 5:
            print("five")
        if name == "given":
            print("given")

    def tell(self, first=None, second=None):
        if first == 1:
            print("one first")
        if second == 2:
            print("two second")
        if first is self:
            print("never itself")

    @classmethod
    def made(cls, size=None):
        if size == 8:
            print("eight")
        return cls(size)

    @staticmethod
    def plain(first=None):
        if first == 9:
            print("nine")


class Derived(Base):
    def __init__(self):
        Base.__init__(self, 5, "given")

    def tell(self, first=None, second=None):
        Base.tell(self, first, second)

    def again(self):
        type(self).tell(self, 1)
        self.__class__.tell(self, None, 2)


def run():
    Derived().again()
    Base.tell(Derived(), 1, 2)
    kind = Base
    kind.tell(kind(), 3)
    Base.made(8)
    Base.plain(9)
