import enum


class Mode(enum.Enum):
    OFF = 1
    ON = 2

    def maker(self):
        return Quick if self is Mode.ON else Slow


class Box:
    def put(self, item, scale=None):
        if scale == 3:
            print("three")
        if scale == 4:
            print("four")
        if scale == 6:
            print("six")
        if scale == 7:
            print("seven")
        if scale == 8:
            print("eight")


class Slow:
    def go(self, box):
        box.put("slow", 3)


class Quick:
    def go(self, box):
        box.put("quick", 4)


class Template:
    def go(self, box):
        self.step(box)

    def step(self, box):
        box.put("base", 5)


class Filled(Template):
    def step(self, box):
        box.put("filled", 6)


class Unmade(Template):
    def step(self, box):
        box.put("unmade", 9)


def lent(box):
    box.put("lent", 7)


def aside(box):
    box.put("aside", 8)


def main(box):
    lent(box)


def outer(box):
    def main(box):
        aside(box)

    return main


def unused(box):
    box.put("unused", 10)


def run():
    box = Box()
    box.put("plain")
    Mode.OFF.maker()().go(box)
    Mode["ON"].maker()().go(box)
    Filled().go(box)
    Unmade.step(None, box) if box is None else None
    main(box)
    outer(box)(box)
