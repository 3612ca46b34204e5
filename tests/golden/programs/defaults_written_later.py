def f(on=False):
    if on:
        print("c31")
def g(*, on=False):
    if on:
        print("c31b")
f.__defaults__ = (True,)
g.__kwdefaults__ = {"on": True}


def run():
    f()
    g()
