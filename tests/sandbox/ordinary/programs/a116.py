import numpy as np
import pandas as pd
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

rng = np.random.default_rng(365)
idx = pd.date_range("2023-01-01", "2023-12-31", freq="D")
visits = pd.Series(rng.poisson(200 + 50 * np.sin(np.arange(len(idx)) / 58)), index=idx, name="visits")
visits.loc["2023-06-10":"2023-06-12"] = np.nan

monthly = visits.resample("MS").agg(["sum", "mean", "max"])
monthly["change_pct"] = monthly["mean"].pct_change() * 100
print(monthly.round(1).to_string())

filled = visits.interpolate()
weekly = filled.resample("W-SUN").sum()
ax = filled.rolling(7, center=True).mean().plot(figsize=(10, 4), label="7 day mean", legend=True)
weekly.div(7).plot(ax=ax, style=".", label="weekly average", legend=True)
plt.savefig("visits.png")

dow = filled.groupby(filled.index.day_name()).mean().round(1)
print(dow.reindex(["Monday", "Wednesday", "Saturday"]).to_dict())
