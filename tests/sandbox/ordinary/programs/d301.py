import numpy as np
import pandas as pd

dates = pd.date_range("2024-01-01", periods=90, freq="D")
traffic = pd.DataFrame({"visits": 200 + (np.arange(90) * 7) % 50}, index=dates)
monthly = traffic.resample("ME").sum()
monthly["change"] = monthly.visits.pct_change().round(3)
print(monthly)
