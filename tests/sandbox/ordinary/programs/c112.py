import asyncio
async def ticks(n):
    for i in range(n):
        yield i
        await asyncio.sleep(0)
async def main():
    print([i async for i in ticks(4)])
    async with asyncio.TaskGroup() as g:
        a = g.create_task(asyncio.sleep(0, "x"))
    print(a.result())
    asyncio.create_task(asyncio.sleep(30))
asyncio.run(main())
