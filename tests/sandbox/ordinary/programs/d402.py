from joblib import Parallel, delayed


def is_perfect(n):
    return sum(d for d in range(1, n) if n % d == 0) == n


flags = Parallel(n_jobs=2, prefer="threads")(delayed(is_perfect)(n) for n in range(1, 500))
print([n for n, flag in enumerate(flags, 1) if flag])
