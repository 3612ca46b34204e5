import sys
from outside import unknown


class Left(Exception):
    pass


def leaves(flag):
    if flag:
        return 1  # always
    return 2  # never


def ends():
    sys.exit(1)  # may


def maybe(flag):
    if flag:
        raise Left  # may
    return 3


def loops():
    for i in (1, 2, 3):
        if i == 4:
            break  # never
        if i > 1:
            continue  # always
        first = i  # always
    else:
        first = 0  # always
    while True:
        break  # always
        first = 1  # never
    return first


def main():
    leaves(True)
    loops()
    maybe(unknown)
    after = 1
    if unknown:
        ends()
        after = 2  # never
    return after


def start():
    main()


start()
