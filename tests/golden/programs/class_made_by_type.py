class Base:
    on = False
    def check(self):
        if self.on:
            print("c13")


def run():
    D = type("D", (Base,), {"on": True})
    D().check()
