import asyncio, time
async def main():
    loop = asyncio.get_running_loop()
    r = await asyncio.gather(*(loop.run_in_executor(None, sum, range(n)) for n in (10, 100)))
    print(r)
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.02)
    except asyncio.TimeoutError:
        print("slow")
asyncio.run(main())
