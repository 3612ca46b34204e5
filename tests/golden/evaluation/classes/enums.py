from enum import Enum, IntEnum, auto


class Algorithm(Enum):
    EAGLE = auto()
    EAGLE3 = auto()
    NONE = auto()

    @staticmethod
    def from_string(name):
        table = {"EAGLE": Algorithm.EAGLE, "EAGLE3": Algorithm.EAGLE3, None: Algorithm.NONE}
        if name is not None:
            name = name.upper()  # always
        return table[name]

    def is_eagle(self):
        return self in (Algorithm.EAGLE, Algorithm.EAGLE3)

    def is_eagle3(self):
        return self == Algorithm.EAGLE3


class Level(IntEnum):
    LOW = 1
    HIGH = 5


def main():
    a = Algorithm.from_string("eagle")
    if a.is_eagle3():
        x = 1  # never
    if a.is_eagle():
        x = 2  # always
    if Algorithm["EAGLE3"].is_eagle3() and Algorithm(2) is Algorithm.EAGLE3:
        x = 3  # always
    if Level.HIGH > Level.LOW and Level(5).name == "HIGH":
        x = 4  # always
    if [m.value for m in Level] != [1, 5]:
        x = 5  # never
    if a.value != 1:
        x = 6  # never
    return x


def start():
    main()


start()
