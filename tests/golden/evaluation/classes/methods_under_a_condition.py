import outside


class Base:
    kind = "base"

    def name(self):
        return "base"

    def both(self):
        return 1


class Derived(Base):
    if outside.u0:
        kind = "derived"

        def name(self):
            return "derived"

        def both(self):
            return 1

        def alone(self):
            return self.kind

        @property
        def size(self):
            return 3

    def __getattr__(self, missing):
        return 4


def main():
    each = Derived()
    if each.name() == "derived":
        x = 1  # may
    if each.name() == "base":
        x = 2  # may
    if each.kind == "neither":
        x = 3  # never
    if each.both() != 1:
        x = 4  # never
    if each.size == 3:
        x = 5  # may
    if each.size not in (3, 4):
        x = 6  # never
    if hasattr(Base(), "alone"):
        x = 7  # never
    x = 8  # always
    return x


main()
