from statsmodels.tsa.stattools import adfuller, acf
import numpy as np
x = np.cumsum(np.random.default_rng(0).normal(size=200))
print(round(adfuller(x)[1], 2) > 0.05, acf(x, nlags=2).round(1))
