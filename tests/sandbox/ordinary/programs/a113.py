import numpy as np
from numpy.polynomial import Polynomial
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

rng = np.random.default_rng(0xC0FFEE)
x = np.linspace(-2, 2, 60)
y = 1 - 2 * x + 0.5 * x**3 + rng.normal(0, 0.4, x.size)

for deg in (1, 2, 3, 4):
    p = Polynomial.fit(x, y, deg)
    print(f"degree {deg}: SSE={np.sum((y - p(x)) ** 2):.3f}")
best = Polynomial.fit(x, y, 3).convert()
print("coefficients:", np.round(best.coef, 3).tolist())

boot = np.array([
    Polynomial.fit(x[i], y[i], 3).convert().coef[3]
    for i in (rng.integers(0, x.size, x.size) for _ in range(300))
])
lo, hi = np.percentile(boot, [2.5, 97.5])
print(f"95% bootstrap CI for cubic term: [{lo:.3f}, {hi:.3f}]")

plt.errorbar(x, y, yerr=0.4, fmt=".", alpha=0.6)
plt.plot(x, best(x), "k-")
plt.savefig("polyfit.png")
