import dataclasses as dc
from dataclasses import dataclass, replace as change
@dataclass
class C:
    on: bool = False
    two: bool = False
    def check(self):
        if self.on:
            print("c15")
        if self.two:
            print("c15b")


def run():
    c = C()
    dc.replace(c, on=True).check()
    change(c, two=True).check()
