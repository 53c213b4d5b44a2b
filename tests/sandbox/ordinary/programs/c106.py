import asyncio
async def main():
    p = await asyncio.create_subprocess_exec("sort", "-r", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    out, _ = await p.communicate(b"b\na\nc\n")
    print(out.decode().split(), p.returncode)
asyncio.run(main())
