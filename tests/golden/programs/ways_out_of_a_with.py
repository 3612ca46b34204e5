class CM:
    def __init__(self):
        self.on = True
        self.n = 0
    def __enter__(self):
        return self
    def __exit__(self, *a):
        self.on = False
        self.n += 1
class ACM:
    def __init__(self):
        self.on = True
    async def __aenter__(self):
        return self
    async def __aexit__(self, *a):
        self.on = False
def f(cm):
    with cm:
        return 1
def g(cm):
    for i in range(2):
        with cm:
            if i == 0:
                continue
            break
async def h(cm):
    async with cm:
        pass


def run():
    c = CM()
    f(c)
    if not c.on:
        print("exit ran on return")
    c = CM()
    g(c)
    if c.n == 2:
        print("exit ran twice")
    c = CM()
    try:
        with c:
            raise ValueError
    except ValueError:
        pass
    if not c.on:
        print("exit ran on raise")
    import asyncio
    a = ACM()
    asyncio.run(h(a))
    if not a.on:
        print("aexit")
