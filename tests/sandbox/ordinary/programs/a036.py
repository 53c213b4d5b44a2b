import numpy as np
from joblib import Memory, Parallel, delayed

memory = Memory("./joblib_cache", verbose=0)


def estimate_pi(seed, n=200_000):
    rng = np.random.default_rng(seed)
    pts = rng.random((n, 2))
    return 4 * np.mean((pts**2).sum(axis=1) <= 1)


@memory.cache
def slow_square(x):
    print("computing", x)
    return x * x


estimates = Parallel(n_jobs=2)(delayed(estimate_pi)(s) for s in range(8))
for s, e in enumerate(estimates):
    print(f"seed {s}: {e:.5f}")
print("mean: %.5f" % np.mean(estimates))

print([slow_square(v) for v in (3, 4, 3, 4)])
memory.clear(warn=False)
