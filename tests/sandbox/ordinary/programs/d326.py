import numpy as np

rng = np.random.default_rng(2024)
steps = rng.choice([-1, 1], size=(500, 100))
walks = steps.cumsum(axis=1)
print(walks.shape, abs(walks.mean()) < 2, (abs(walks).max(axis=1) >= 10).mean() > 0.3)
print(np.sort(rng.permutation(10))[:3], rng.integers(0, 10, 3).dtype, np.quantile(np.arange(11), [0.1, 0.5, 0.9]))
