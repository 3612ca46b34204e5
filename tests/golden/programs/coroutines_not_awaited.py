import asyncio
log = []
async def c1():
    log.append(1)
async def c2():
    log.append(2)
    await asyncio.sleep(0)
    log.append(3)
async def top():
    co = c1()
    if not log:
        print("lazy coroutine")
    await co
    if log == [1]:
        print("one")
    t = asyncio.create_task(c2())
    if log == [1]:
        print("task not yet")
    await asyncio.sleep(0)
    if log == [1, 2]:
        print("started")
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("cancelled")
    if log[-1] == 2:
        print("two last")


def run():
    asyncio.run(top())
    x = c1()
    x.close()
