import asyncio


async def handle(reader, writer):
    while line := await reader.readline():
        writer.write(line.upper())
        await writer.drain()
    writer.close()
    await writer.wait_closed()


async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for word in ["hello", "from", "the client"]:
        writer.write(word.encode() + b"\n")
        await writer.drain()
        print((await reader.readline()).decode().rstrip())
    writer.close()
    await writer.wait_closed()
    server.close()
    await server.wait_closed()
    await asyncio.sleep(0.05)
    print("server closed")


asyncio.run(main())
