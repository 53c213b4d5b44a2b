import threading
timer = threading.Timer(30, print, ["never"]); timer.daemon = True; timer.start()
local = threading.local(); local.x = 1
b = threading.Barrier(3); out = []
def w(i): b.wait(); out.append(i)
ts = [threading.Thread(target=w, args=(i,)) for i in range(3)]; [t.start() for t in ts]; [t.join() for t in ts]
print(sorted(out), threading.active_count() >= 1)
