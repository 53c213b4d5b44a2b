import asyncio


async def fetch(name, delay):
    await asyncio.sleep(delay)
    return f"{name} done"


async def main():
    results = await asyncio.gather(fetch("users", 0.03), fetch("orders", 0.01), fetch("stock", 0.02))
    print(results)
    try:
        await asyncio.wait_for(fetch("slow", 30), timeout=0.05)
    except asyncio.TimeoutError:
        print("slow timed out")


asyncio.run(main())
