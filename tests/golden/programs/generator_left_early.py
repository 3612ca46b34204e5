class C:
    def __init__(self):
        self.mode = "a"
    def items_(self):
        self.mode = "b"
        yield 1
        self.mode = "c"
        yield 2


def run():
    c = C()
    it = c.items_()
    if c.mode == "a":
        print("still a")
    for x in it:
        if x == 1 and c.mode == "b":
            print("b")
        break
    if c.mode == "b":
        print("b after break")
    if c.mode == "c":
        print("no: c")
