from multiprocessing import Pool


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


if __name__ == "__main__":
    with Pool(2) as pool:
        lengths = pool.map(collatz, range(1, 2001), chunksize=200)
    best = max(range(len(lengths)), key=lengths.__getitem__)
    print("longest chain below 2001 starts at", best + 1)
    print("steps", lengths[best])
    print("average", round(sum(lengths) / len(lengths), 3))
