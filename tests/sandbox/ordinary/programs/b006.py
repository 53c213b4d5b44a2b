import asyncio
import random


async def fetch(sem, state, index, delay):
    async with sem:
        state["active"] += 1
        state["peak"] = max(state["peak"], state["active"])
        await asyncio.sleep(delay)
        state["active"] -= 1
    return index, round(delay * 1000, 2)


async def main():
    rng = random.Random(11)
    sem = asyncio.Semaphore(3)
    state = {"active": 0, "peak": 0}
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(fetch(sem, state, i, rng.uniform(0.001, 0.01)))
            for i in range(10)
        ]
    for task in tasks:
        index, ms = task.result()
        print(f"job {index}: {ms} ms planned")
    print("peak concurrency", state["peak"])


asyncio.run(main())
