class Box:
    present = 1

    def method(self):
        return 1  # always


def main():
    box = Box()
    if hasattr(box, "absent"):
        x = 1  # never
    if getattr(box, "absent", None) is None:
        x = 2  # always
    setattr(box, "absent", 5)
    if box.absent == 5 and hasattr(box, "absent"):
        x = 3  # always
    x = getattr(box, "method")()
    if x != 1:
        x = 4  # never
    delattr(box, "absent")
    if hasattr(box, "absent"):
        x = 5  # never
    if callable(box.method):
        x = 6  # always
    for name, value in vars(box).items():
        x = 7  # never
    try:
        box.nothing
        x = 8  # never
    except AttributeError:
        x = 9  # always
    return x


def start():
    main()


start()
