class Args:
    def __init__(self, size):
        self.size = size
        self.length = 0
        for name in [each for each in dir(self) if each.startswith("_fix_")]:
            getattr(self, name)()

    def _fix_length(self):
        if not self.length:
            self.length = 1024 * self.size


class Calls:
    def __init__(self):
        self.on = False

    def call(self, words):
        method = getattr(self, "_".join(words), None)
        if method is not None:
            method()

    def turn_on(self):
        self.on = True


def run():
    args = Args(2)
    if args.length == 2048:
        print("fixed")
    calls = Calls()
    calls.call(["turn", "on"])
    if calls.on:
        print("on")
