class Positive:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        return getattr(instance, self.name, 0)

    def __set__(self, instance, value):
        if value < 0:
            value = 0
        setattr(instance, self.name, value)


class Box:
    size = Positive()

    def __init__(self, size):
        self.size = size


def main():
    box = Box(-3)
    if box.size != 0:
        x = 1  # never
    box.size = 4
    if box._size == 4 and box.size == 4:
        x = 2  # always
    return x  # always


def start():
    main()


start()
