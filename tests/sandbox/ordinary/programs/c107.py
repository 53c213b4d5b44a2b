import asyncio
async def worker(name, q, done):
    while True:
        n = await q.get()
        done.append(n * n)
        q.task_done()
async def main():
    q, done = asyncio.Queue(), []
    tasks = [asyncio.create_task(worker(i, q, done)) for i in range(3)]
    for i in range(10): q.put_nowait(i)
    await q.join()
    for t in tasks: t.cancel()
    print(sorted(done))
asyncio.run(main())
