import asyncio
import hashlib
import time


def blocking_hash(n):
    time.sleep(0.01)
    return hashlib.sha256(str(n).encode()).hexdigest()[:12]


async def numbers(stop):
    try:
        for i in range(stop):
            yield i
            await asyncio.sleep(0)
    finally:
        print("generator closed")


async def main():
    digests = await asyncio.gather(
        *[asyncio.to_thread(blocking_hash, n) for n in range(6)]
    )
    for n, digest in enumerate(digests):
        print(n, digest)
    async for n in numbers(4):
        print("number", n)
    total = sum([n async for n in numbers(10)])
    print("total", total)


asyncio.run(main())
