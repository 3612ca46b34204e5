class C:
    items = []
    table = {}
    def __init__(self):
        self.table["x"] = 1
    def load(self):
        self.items.append(1)
    def check(self):
        if self.items:
            print("items")
        if self.table:
            print("table")


def run():
    C().load()
    C().check()
