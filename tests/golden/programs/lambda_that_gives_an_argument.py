seen = []


def told(x=None, loud=False):
    if x is not None:
        seen.append(x)
    if loud:
        seen.append("loud")


class Bell:
    def __init__(self, kind):
        self.kind = kind
        self.ring = lambda: told(3)
        self.name = lambda: told(self.kind)
        self.shout = (lambda given: lambda: told(loud=given))(True)

    def go(self):
        self.ring()
        self.name()
        self.shout()


def run():
    told()
    Bell("brass").go()
    if seen == [3, "brass", "loud"]:
        print("rung")
