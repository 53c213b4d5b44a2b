import warnings
import numpy as np
import pandas as pd
from statsmodels.tsa.holtwinters import ExponentialSmoothing
from statsmodels.tsa.seasonal import seasonal_decompose

warnings.simplefilter("ignore")

rng = np.random.default_rng(6)
idx = pd.date_range("2018-01-01", periods=72, freq="MS")
y = pd.Series(200 + 2 * np.arange(72) + 30 * np.sin(2 * np.pi * np.arange(72) / 12) + rng.normal(0, 5, 72), index=idx)

dec = seasonal_decompose(y, model="additive", period=12)
print("seasonal factors:", dec.seasonal[:12].round(1).tolist())

train, test = y[:-12], y[-12:]
fit = ExponentialSmoothing(train, trend="add", seasonal="add", seasonal_periods=12).fit()
fc = fit.forecast(12)
mape = (np.abs(fc - test) / test).mean() * 100
print("MAPE: %.1f%%" % mape)
print(pd.DataFrame({"actual": test, "forecast": fc}).round(0).astype(int).to_string())
