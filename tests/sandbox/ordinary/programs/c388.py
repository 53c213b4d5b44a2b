from concurrent.futures import ThreadPoolExecutor, ProcessPoolExecutor, wait, TimeoutError
import time
def boom(): raise ValueError("no")
if __name__ == "__main__":
    ex = ThreadPoolExecutor(2); f = ex.submit(boom); print(repr(f.exception()), f.done()); g = ex.submit(time.sleep, 0.2)
    try: g.result(timeout=0.01)
    except TimeoutError: print("slow")
    ex.shutdown(wait=False, cancel_futures=True)
    with ProcessPoolExecutor(2, initializer=print, initargs=()) as p: print(list(p.map(divmod, [7, 8], [2, 3], chunksize=2)))
