KINDS = {}


def kind(*names):
    def put(cls):
        for name in names:
            assert name not in KINDS
            KINDS[name] = cls
        return cls

    return put


class Base:
    limit = 1

    def __init__(self, size=None):
        self.size = size

    def go(self):
        if self.size is not None:
            print("sized", self.size)
        if self.size == 5:
            print("five")


@kind("small", "tiny")
class Small(Base):
    def go(self):
        print("small")
        super().go()


@kind("large")
class Large(Base):
    def go(self):
        print("large")
        super().go()


@kind("odd")
class Odd(Base):
    @classmethod
    def made(cls):
        return cls(5)

    def go(self):
        print("odd")
        super().go()


class Maker:
    table = {"plain": Base, "small": Small}

    def make(self, name):
        cls = self.table.get(name.lower())
        if not cls:
            raise ValueError(name)
        return cls(size=3)


class Counted:
    def __init__(self, size=None):
        if size is None:
            print("without a size")
        else:
            print("with a size")


class Other:
    def __init__(self, size=None):
        if size is not None:
            print("never with one")


COUNTED = {"counted": Counted, "other": Other}


def all_of_them():
    return [cls(1) for cls in COUNTED.values() if cls is Counted]


def run():
    KINDS["tiny"]().go()
    KINDS["odd"].made().go()
    Maker().make("plain").go()
    all_of_them()
    COUNTED["other"]()
