class Inner:
    def put(self, item, scale=None):
        if scale is not None:
            print("scaled", scale)
        if item == "late":
            print("late")


class Outer:
    def __init__(self, inner):
        self.inner = inner

    def put(self, item, scale=1.0):
        self.inner.put(item, scale)


class Plain:
    def __init__(self, inner):
        self.inner = inner

    def put(self, item, scale=None):
        self.inner.put(item, scale)


class Changed:
    def __init__(self, inner):
        self.inner = inner

    def put(self, item, scale=None):
        scale = scale or 2
        self.inner.put("late", scale)


def down(count, item=None):
    if item == "deep":
        print("deep")
    if count == 0:
        return
    down(count - 1, item)


def below(count, item=None):
    if item is not None:
        print("given below")
    if count:
        below(count - 1, count)


class Never:
    def go(self):
        Inner().put("x", 3)


def run():
    Plain(Inner()).put("a")
    Outer(Inner()).put("b")
    Changed(Inner()).put("c")
    down(2, "deep")
    below(1)
