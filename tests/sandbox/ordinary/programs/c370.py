import asyncio, contextvars
v = contextvars.ContextVar("v", default=0)
async def set_(n): v.set(n); await asyncio.sleep(0); return v.get()
async def main():
    print(await asyncio.gather(set_(1), set_(2)), v.get()); l = asyncio.Lock()
    async with l: print(l.locked())
    r, w = await asyncio.open_connection(sock=(p := __import__("socket").socketpair())[0]); p[1].send(b"line\nrest"); p[1].close(); print(await r.readline(), await r.read()); w.close(); print(await asyncio.to_thread(len, "abc")); proc = await asyncio.create_subprocess_shell("echo $((2+3)); exit 4", stdout=-1); print((await proc.communicate())[0], proc.returncode)
asyncio.run(main(), debug=False)
