import numpy as np
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import statsmodels.api as sm
from statsmodels.stats.power import TTestIndPower
from statsmodels.stats.proportion import proportions_ztest, proportion_confint

rng = np.random.default_rng(13)
sample = rng.standard_t(df=5, size=200)

fig, (a1, a2) = plt.subplots(1, 2, figsize=(10, 4))
sm.qqplot(sample, line="s", ax=a1)
x = np.sort(rng.uniform(0, 6, 120))
y = np.sin(x) + rng.normal(0, 0.3, 120)
smooth = sm.nonparametric.lowess(y, x, frac=0.25)
a2.scatter(x, y, s=8)
a2.plot(smooth[:, 0], smooth[:, 1], "r")
fig.savefig("diag.png")
print("lowess mid value: %.3f" % smooth[60, 1])

n = TTestIndPower().solve_power(effect_size=0.4, alpha=0.05, power=0.8)
print("needed per group:", int(np.ceil(n)))
z, p = proportions_ztest([45, 30], [200, 210])
print(f"A/B test z={z:.3f} p={p:.4f}")
print("Wilson CI:", [round(float(v), 4) for v in proportion_confint(45, 200, method="wilson")])
