import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np


def count_primes(bounds):
    lo, hi = bounds
    limit = int(hi**0.5) + 1
    base = np.ones(limit + 1, dtype=bool)
    base[:2] = False
    for p in range(2, int(limit**0.5) + 1):
        if base[p]:
            base[p * p::p] = False
    seg = np.ones(hi - lo, dtype=bool)
    for p in np.flatnonzero(base):
        start = max(p * p, (lo + p - 1) // p * p)
        seg[start - lo::p] = False
    if lo < 2:
        seg[: 2 - lo] = False
    return int(seg.sum())


if __name__ == "__main__":
    chunks = [(i, i + 250_000) for i in range(0, 2_000_000, 250_000)]
    workers = min(2, os.cpu_count() or 1)
    with ProcessPoolExecutor(max_workers=workers) as pool:
        counts = list(pool.map(count_primes, chunks))
    for (lo, hi), c in zip(chunks, counts):
        print(f"[{lo:>8,}, {hi:>9,}): {c:,}")
    print("total:", f"{sum(counts):,}")
