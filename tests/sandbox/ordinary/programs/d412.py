import asyncio


async def handle(reader, writer):
    name = (await reader.readline()).decode().strip()
    writer.write(f"hello {name}\n".encode())
    await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"Ann\n")
    print((await reader.read()).decode().strip())
    writer.close()
    server.close()


asyncio.run(main())
