from outside import unknown


class Left(Exception):
    pass


class Box:
    a = b = None


def partial(box):
    try:
        box.a = 1  # always
        raise Left  # always
        box.b = 1  # never
    except Left:
        box.c = 1  # always
    else:
        box.c = 2  # never
    finally:
        box.d = 1  # always


def swallowed(config):
    try:
        found = config.get("key")  # always
        found = 2  # never
    except Exception:
        found = None  # always
    if found is None:
        return 1  # always
    return 2  # never


def other():
    try:
        raise ValueError("no")  # always
    except KeyError:
        x = 1  # never
    except (TypeError, ValueError):
        x = 2  # always
    return x  # always


def undecided(box):
    try:
        box.e = 1
        if unknown:
            raise Left  # may
        box.e = 2  # may
    except Left:
        box.f = 1  # may
    if box.e == 3:
        return 1  # never
    if box.e == 1:
        return 2  # may
    return 3  # may


def main():
    box = Box()
    partial(box)
    if box.b is None:
        x = 1  # always
    if box.a is None:
        x = 2  # never
    swallowed(None)
    other()
    undecided(box)
    return x


def start():
    main()


start()
