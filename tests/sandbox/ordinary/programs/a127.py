import math
from concurrent.futures import ThreadPoolExecutor, as_completed

from tqdm import tqdm
from tqdm.contrib.concurrent import process_map, thread_map


def collatz_length(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


if __name__ == "__main__":
    lengths = process_map(collatz_length, range(1, 5001), max_workers=2, chunksize=500, disable=None)
    best = max(range(len(lengths)), key=lengths.__getitem__)
    print("longest under 5000:", best + 1, "steps", lengths[best])

    roots = thread_map(math.isqrt, range(0, 100, 10), max_workers=4, leave=False)
    print("roots:", roots)

    with ThreadPoolExecutor(4) as ex:
        futures = {ex.submit(math.comb, 20, k): k for k in range(8)}
        done = {futures[f]: f.result() for f in tqdm(as_completed(futures), total=len(futures))}
    print("comb:", [done[k] for k in sorted(done)])
