import asyncio
class C:
    def __init__(self):
        self.on = False
        self.two = False
    async def work(self):
        self.on = True
        await asyncio.sleep(0)
        self.on = False
    async def watch(self):
        await asyncio.sleep(0)
        if self.on:
            print("as1")
    async def check(self):
        await asyncio.gather(self.work(), self.watch())


def run():
    asyncio.run(C().check())
