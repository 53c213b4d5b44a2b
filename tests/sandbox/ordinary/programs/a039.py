import numpy as np
from scipy.optimize import curve_fit


def logistic(t, K, r, t0):
    return K / (1 + np.exp(-r * (t - t0)))


rng = np.random.default_rng(8)
t = np.linspace(0, 20, 41)
observed = logistic(t, 500, 0.6, 9) + rng.normal(0, 8, t.size)

popt, pcov = curve_fit(logistic, t, observed, p0=[400, 0.3, 8])
perr = np.sqrt(np.diag(pcov))
for name, v, e in zip(["K", "r", "t0"], popt, perr):
    print(f"{name:>3} = {v:8.3f} +/- {e:.3f}")

residuals = observed - logistic(t, *popt)
print("RMSE: %.3f" % np.sqrt(np.mean(residuals**2)))
