import asyncio


async def producer(queue, n):
    for i in range(n):
        await queue.put(i)
        await asyncio.sleep(0)
    for _ in range(2):
        await queue.put(None)


async def consumer(queue, results):
    while True:
        item = await queue.get()
        if item is None:
            return
        results.append(item * item)


async def main():
    queue = asyncio.Queue(maxsize=4)
    results = []
    await asyncio.gather(
        producer(queue, 20),
        consumer(queue, results),
        consumer(queue, results),
    )
    print("items:", len(results))
    print("sum of squares:", sum(results))
    print("largest:", max(results))


asyncio.run(main())
