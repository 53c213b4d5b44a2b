import pandas as pd, numpy as np
rng = np.random.default_rng(7)
orders = pd.DataFrame({"cust": rng.integers(1, 6, 40), "eur": rng.uniform(5, 90, 40).round(2), "day": pd.date_range("2024-03-01", periods=40)})
top = orders.groupby("cust").eur.agg(["sum", "count"]).sort_values("sum", ascending=False)
print(top.head(3)); orders.to_csv("orders.csv", index=False); print(pd.read_csv("orders.csv", parse_dates=["day"]).day.dt.day_name().value_counts().to_dict())
