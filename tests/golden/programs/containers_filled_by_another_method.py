class Engine:
    def __init__(self, size):
        self.size = size
        self.runners = {}
        self.hooks = []
        self._set_up()
        self.add_hook(lambda stats: stats.update(hooked=True))

    def _set_up(self):
        self.runners["main"] = self.size
        if self.size > 1:
            self.runners["second"] = self.size - 1

    def add_hook(self, function):
        self.hooks.append(function)

    def serve(self):
        stats = {}
        for name, runner in self.runners.items():
            if name == "second" and runner == 1:
                print("second")
        for hook in self.hooks:
            hook(stats)
        if stats:
            print("hooked")


ENGINE = Engine(2)


def run():
    ENGINE.serve()
    Engine(2).serve()
