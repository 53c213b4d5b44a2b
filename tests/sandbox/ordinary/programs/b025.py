from concurrent.futures import ProcessPoolExecutor


def count_primes(bounds):
    low, high = bounds
    return sum(
        1
        for n in range(max(low, 2), high)
        if all(n % d for d in range(2, int(n ** 0.5) + 1))
    )


if __name__ == "__main__":
    chunks = [(i, i + 2500) for i in range(0, 10000, 2500)]
    with ProcessPoolExecutor(max_workers=2) as pool:
        counts = list(pool.map(count_primes, chunks))
    for (low, high), count in zip(chunks, counts):
        print(f"{low:5}..{high:5}: {count}")
    print("total", sum(counts))
