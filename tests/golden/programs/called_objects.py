class Layer:
    def __call__(self, x, on=False):
        if on:
            print("c24")
class Net:
    def __init__(self):
        self.layer = Layer()
    def go(self):
        self.layer(1, on=True)
        self.layer.__call__(1, True)


def run():
    Net().go()
