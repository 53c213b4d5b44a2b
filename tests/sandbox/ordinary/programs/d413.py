import asyncio
import sys


async def run(*command):
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    return process.returncode, out.decode().strip()


async def main():
    results = await asyncio.gather(
        run("echo", "one"), run(sys.executable, "-c", "print(6 * 7)"), run("false"), run("sh", "-c", "exit 3")
    )
    print(results)


asyncio.run(main())
