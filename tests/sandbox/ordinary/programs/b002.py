import asyncio


async def slow(name, seconds):
    try:
        await asyncio.sleep(seconds)
        return f"{name} done"
    except asyncio.CancelledError:
        print(f"{name} cancelled")
        raise


async def main():
    print(await asyncio.wait_for(slow("quick", 0.01), timeout=2))
    try:
        await asyncio.wait_for(slow("sluggish", 30), timeout=0.05)
    except asyncio.TimeoutError:
        print("timed out")
    task = asyncio.create_task(slow("manual", 30))
    await asyncio.sleep(0.01)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print("task cancelled:", task.cancelled())


asyncio.run(main())
