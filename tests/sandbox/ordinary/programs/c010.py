import matplotlib.pyplot as plt
import numpy as np
rng = np.random.default_rng(3)
fig, (a, b) = plt.subplots(1, 2)
n, bins, _ = a.hist(rng.normal(size=500), bins=10)
b.boxplot([rng.normal(size=50) for _ in range(3)])
fig.savefig("dist.eps")
print(int(n.sum()), len(bins))
