import threading, queue, time
q, out = queue.PriorityQueue(), []
def consume():
    while (item := q.get())[1] != "stop": out.append(item[1])
t = threading.Thread(target=consume)
for p, v in [(2, "b"), (1, "a"), (9, "stop")]: q.put((p, v))
t.start(); t.join(); print(out); s = threading.Semaphore(2); print(s.acquire(timeout=0.1), threading.current_thread().name); r = threading.RLock(); r.acquire(); r.acquire(); r.release(); r.release(); c = threading.Condition()
with c: print(c.wait(timeout=0.01))
