import asyncio

beats = 0


async def heartbeat(interval):
    global beats
    while True:
        beats += 1
        await asyncio.sleep(interval)


async def work(n):
    total = 0
    for i in range(n):
        total += i
        await asyncio.sleep(0.001)
    return total


async def main():
    asyncio.create_task(heartbeat(0.01), name="heartbeat")
    total = await work(50)
    names = sorted(t.get_name() for t in asyncio.all_tasks() if t.get_name() == "heartbeat")
    print("total", total)
    print("still running:", names)


asyncio.run(main())
print("heartbeat ran:", beats > 0)
