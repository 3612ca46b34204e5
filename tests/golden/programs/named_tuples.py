from typing import NamedTuple
class P(NamedTuple):
    x: int
    y: int = 0
    on: bool = False
    def check(self):
        if self.on:
            print("nt on")
        if self.y:
            print("nt y")
        if self[1] == 4:
            print("nt y4")


def run():
    p = P(1)
    p._replace(on=True).check()
    P._make([1, 4, True]).check()
    P(*[1, 4]).check()
