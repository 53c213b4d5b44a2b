import threading
import time

beat = threading.Event()
state = {"count": 0}


def heartbeat():
    while True:
        state["count"] += 1
        beat.set()
        time.sleep(0.02)


thread = threading.Thread(target=heartbeat, name="heartbeat", daemon=True)
thread.start()
beat.wait(5)
rows = [(n, n ** 3) for n in range(1, 8)]
for n, cube in rows:
    print(f"{n} cubed is {cube}")
time.sleep(0.1)
print("heartbeat alive:", thread.is_alive())
print("daemon:", thread.daemon)
print("done, leaving the heartbeat behind")
