from multiprocessing.pool import ThreadPool
import threading

pool = ThreadPool(3)
print(sorted(pool.imap_unordered(lambda n: n % 4, range(8))), pool.apply(max, (3, 9)))
handle = pool.apply_async(divmod, (17, 5))
print(handle.get(timeout=10), handle.successful())
pool.close()
pool.join()
heartbeat = threading.Thread(target=threading.Event().wait, daemon=True)
heartbeat.start()
print(heartbeat.is_alive(), heartbeat.daemon)
