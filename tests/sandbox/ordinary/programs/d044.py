import queue
import threading

jobs, results = queue.Queue(), queue.Queue()


def worker():
    while (job := jobs.get()) is not None:
        results.put((job, job**2))
        jobs.task_done()


workers = [threading.Thread(target=worker) for _ in range(3)]
for thread in workers:
    thread.start()
for n in range(10):
    jobs.put(n)
jobs.join()
for _ in workers:
    jobs.put(None)
for thread in workers:
    thread.join()
print(sorted(results.queue))
