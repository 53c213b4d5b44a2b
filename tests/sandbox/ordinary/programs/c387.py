import multiprocessing as mp, os, time
def child(c): c.send(os.getpid() != os.getppid()); c.close()
if __name__ == "__main__":
    a, b = mp.Pipe(); p = mp.Process(target=child, args=(b,)); p.start(); print(a.recv()); p.join(1); print(p.exitcode); q = mp.SimpleQueue(); q.put([1]); print(q.get()); s = mp.Semaphore(1); print(s.acquire(timeout=1)); arr = mp.Array("d", 3); arr[0] = 1.5; print(list(arr)); k = mp.Process(target=time.sleep, args=(30,)); k.start(); k.terminate(); k.join(); print(k.exitcode, mp.active_children(), mp.get_start_method() in ("fork", "spawn", "forkserver"))
