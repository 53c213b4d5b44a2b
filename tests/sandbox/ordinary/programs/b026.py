import threading
from concurrent.futures import ThreadPoolExecutor, wait

gate = threading.Event()
pool = ThreadPoolExecutor(max_workers=1)
done_order = []


def job(n):
    gate.wait(5)
    return n * 100


futures = [pool.submit(job, n) for n in range(5)]
for f in futures:
    f.add_done_callback(lambda f: done_order.append("cancelled" if f.cancelled() else f.result()))
print("cancelled last:", futures[-1].cancel())
gate.set()
wait(futures[:-1], timeout=5)
print([f.result() for f in futures[:-1]])
pool.submit(lambda: None).result(5)
print("callbacks:", done_order)
