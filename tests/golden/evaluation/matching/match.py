from dataclasses import dataclass


@dataclass
class Point:
    x: int
    y: int


def main():
    match "b":
        case "a":
            r = 1  # never
        case "b" | "c":
            r = 2  # always
        case _:
            r = 3  # never
    match (1, [2, 3]):
        case (0, _):
            r = 4  # never
        case (1, [first, *rest]) if first == 2:
            r = 5  # always
    match {"k": 1}:
        case {"j": _}:
            r = 6  # never
        case {"k": value}:
            r = value  # always
    match Point(1, 2):
        case Point(x=0):
            r = 7  # never
        case Point(1, y):
            r = y  # always
    if r != 2:
        r = 8  # never
    return r


def start():
    main()


start()
