import multiprocessing as mp
import random

rng = None


def setup(seed):
    global rng
    rng = random.Random(seed)


def sample(n):
    local = random.Random(n)
    return n, round(local.random(), 6), rng is not None


if __name__ == "__main__":
    ctx = mp.get_context("spawn")
    pool = ctx.Pool(1, initializer=setup, initargs=(7,))
    for row in pool.map(sample, range(5)):
        print(*row)
    pool.close()
    pool.join()
    print("start method", ctx.get_start_method())
