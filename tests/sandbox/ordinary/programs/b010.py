import threading

fired = threading.Event()
log = []


def ring(name):
    log.append(name)
    fired.set()


first = threading.Timer(0.05, ring, args=("first",))
never = threading.Timer(60, ring, args=("never",))
first.start()
never.start()
print("waiting for the first timer")
print("fired in time:", fired.wait(5))
never.cancel()
never.join()
first.join()
print("log:", log)
print("alive:", first.is_alive(), never.is_alive())
