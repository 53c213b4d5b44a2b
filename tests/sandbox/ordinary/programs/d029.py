from multiprocessing import Pool


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


if __name__ == "__main__":
    with Pool(2) as pool:
        steps = pool.map(collatz, range(1, 200), chunksize=50)
    print(max(steps), steps.index(max(steps)) + 1)
