import asyncio
import os
import signal


async def main():
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    seen = []

    def on_signal(signum):
        seen.append(signal.Signals(signum).name)
        if len(seen) == 2:
            stop.set()

    for sig in (signal.SIGUSR1, signal.SIGTERM):
        loop.add_signal_handler(sig, on_signal, sig)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.sleep(0.05)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(stop.wait(), 5)
    print("signals:", seen)
    print("shut down cleanly")


asyncio.run(main())
