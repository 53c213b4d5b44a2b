import asyncio, signal
async def main():
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.call_later(0.05, stop.set)
    await stop.wait()
    print("stopped")
asyncio.run(main())
