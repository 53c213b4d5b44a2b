import multiprocessing as mp
import time


def ticker(ready):
    ready.set()
    while True:
        time.sleep(0.1)


if __name__ == "__main__":
    ready = mp.Event()
    child = mp.Process(target=ticker, args=(ready,), daemon=True, name="ticker")
    child.start()
    print("child ready:", ready.wait(10))
    fib = [0, 1]
    while fib[-1] < 500:
        fib.append(fib[-1] + fib[-2])
    print(fib)
    print("child alive:", child.is_alive(), "daemon:", child.daemon)
