import asyncio
class Conn:
    async def __aenter__(self): await asyncio.sleep(0); return self
    async def __aexit__(self, *a): print("closed")
async def fetch(i):
    async with asyncio.timeout(1): await asyncio.sleep(0.001 * (3 - i)); return i
async def main():
    async with Conn(): print(await asyncio.gather(*map(fetch, range(3))))
    for c in asyncio.as_completed([fetch(2), fetch(0)]): print(await c)
    e = asyncio.Event(); asyncio.get_running_loop().call_soon(e.set); await e.wait(); done, pending = await asyncio.wait([asyncio.create_task(fetch(1)), asyncio.create_task(asyncio.sleep(9))], return_when=asyncio.FIRST_COMPLETED); print(len(done), len(pending)); [p.cancel() for p in pending]
asyncio.run(main())
