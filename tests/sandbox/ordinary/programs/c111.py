import asyncio
sem = asyncio.Semaphore(2); active = peak = 0
async def job():
    global active, peak
    async with sem:
        active += 1; peak = max(peak, active)
        await asyncio.sleep(0.001); active -= 1
async def main():
    await asyncio.gather(*(job() for _ in range(8)))
asyncio.run(main()); print(peak)
