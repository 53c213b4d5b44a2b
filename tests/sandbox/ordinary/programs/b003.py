import asyncio


async def pipe(cmd, text):
    proc = await asyncio.create_subprocess_exec(
        *cmd,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await proc.communicate(text.encode())
    return proc.returncode, out.decode()


async def main():
    words = "pear\napple\nfig\napple\nbanana\n"
    rc, out = await pipe(["sort", "-u"], words)
    print("sort rc", rc)
    print(out, end="")
    rc, out = await pipe(["wc", "-l"], words)
    print("lines", out.strip(), "rc", rc)
    proc = await asyncio.create_subprocess_shell("exit 3")
    print("shell exit", await proc.wait())


asyncio.run(main())
