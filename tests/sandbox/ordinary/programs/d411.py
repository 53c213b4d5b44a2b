import asyncio


async def producer(queue, count):
    for n in range(count):
        await queue.put(n)
        await asyncio.sleep(0)
    await queue.put(None)


async def consumer(queue):
    total = 0
    while (item := await queue.get()) is not None:
        total += item
    return total


async def main():
    queue = asyncio.Queue(maxsize=3)
    _, total = await asyncio.gather(producer(queue, 20), consumer(queue))
    print(total)
    limit = asyncio.Semaphore(2)
    running, most = 0, 0

    async def job():
        nonlocal running, most
        async with limit:
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.002)
            running -= 1

    await asyncio.gather(*(job() for _ in range(6)))
    print(most)


asyncio.run(main())
