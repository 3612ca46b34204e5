import asyncio
async def slow():
    await asyncio.sleep(10)
    print("no")
async def top():
    try:
        await asyncio.wait_for(slow(), 0.01)
    except asyncio.TimeoutError:
        print("timeout")
    r = await asyncio.gather(bad(), return_exceptions=True)
    if isinstance(r[0], ValueError):
        print("collected")
async def bad():
    raise ValueError("x")


def run():
    asyncio.run(top())
