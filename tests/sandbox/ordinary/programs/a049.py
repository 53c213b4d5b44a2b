import warnings

import numpy as np
import pandas as pd
from statsmodels.stats.diagnostic import acorr_ljungbox
from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.stattools import acf, adfuller

warnings.filterwarnings("ignore")
rng = np.random.default_rng(77)
e = rng.normal(size=400)
x = np.zeros(400)
for t in range(2, 400):
    x[t] = 0.6 * x[t - 1] - 0.3 * x[t - 2] + e[t]

series = pd.Series(x, index=pd.date_range("2022-01-01", periods=400, freq="D"))
stat, pvalue, *_ = adfuller(series)
print("ADF statistic %.3f stationary: %s" % (stat, pvalue < 0.05))
print("acf:", acf(series, nlags=4).round(3).tolist())

fit = ARIMA(series, order=(2, 0, 0)).fit()
print({k: round(v, 2) for k, v in fit.params.items()})
print("forecast:", fit.forecast(3).round(2).tolist())
lb = acorr_ljungbox(fit.resid, lags=[10])
print("residuals look white:", bool(lb["lb_pvalue"].iloc[0] > 0.05))
