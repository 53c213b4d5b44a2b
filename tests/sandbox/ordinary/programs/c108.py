import asyncio, os
async def handle(r, w):
    w.write((await r.readline()).upper()); await w.drain(); w.close()
async def main():
    s = await asyncio.start_unix_server(handle, "app.sock")
    r, w = await asyncio.open_unix_connection("app.sock")
    w.write(b"ping\n"); print(await r.readline())
    w.close(); s.close(); await s.wait_closed()
asyncio.run(main())
