class It:
    def __init__(self, n):
        self.n = n
    def __iter__(self):
        return self
    def __next__(self):
        if self.n == 0:
            print("stop")
            raise StopIteration
        self.n -= 1
        return self.n


def run():
    t = 0
    for x in It(3):
        t += x
    if t == 3:
        print("sum")
    if list(It(2)) == [1, 0]:
        print("list")
    i = iter(It(1))
    if next(i) == 0 and next(i, "end") == "end":
        print("end")
