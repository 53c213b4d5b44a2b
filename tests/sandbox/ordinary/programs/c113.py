import aiohttp, asyncio
async def main():
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as s:
            print(s.closed, s.headers.get("x"))
    finally:
        print("closed")
asyncio.run(main())
