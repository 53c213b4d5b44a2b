import threading, time
def beat(stop):
    while not stop.wait(0.01): pass
stop = threading.Event()
t = threading.Thread(target=beat, args=(stop,), daemon=True); t.start()
threading.Timer(60, print, ["late"]).daemon
print(sum(range(10))); stop.set(); t.join(); print(t.is_alive())
