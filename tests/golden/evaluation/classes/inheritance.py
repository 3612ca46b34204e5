class Base:
    kind = "base"

    def __init__(self, size):
        self.size = size
        self._w = 0

    @property
    def double(self):
        return self.size * 2  # always

    @double.setter
    def double(self, value):
        self.size = value // 2  # always

    @classmethod
    def make(cls, size):
        return cls(size)  # always

    @staticmethod
    def two():
        return 2  # always

    def who(self):
        return "base"  # always

    def hidden(self):
        return 1  # never


class Child(Base):
    kind = "child"

    def __init__(self, size):
        super().__init__(size + 1)
        self.extra = True  # always

    def who(self):
        if self.kind == "base":
            return "no"  # never
        return "child of " + super().who()  # always

    def hidden(self):
        return 2  # always


def main():
    child = Child.make(1)
    if child.double != 4:
        x = 1  # never
    child.double = 10
    if child.size == 5:
        x = 2  # always
    if child.who() == "child of base":
        x = Base.two()  # always
    if isinstance(child, Base) and not isinstance(child, str):
        x = child.hidden()  # always
    if type(child).__name__ != "Child":
        x = 3  # never
    return x


def start():
    main()


start()
