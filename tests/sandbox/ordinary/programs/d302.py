import pandas as pd

orders = pd.DataFrame({"order": [1, 2, 3, 4], "customer": [10, 11, 10, 13], "total": [20.0, 35.5, 12.25, 99.9]})
customers = pd.DataFrame({"customer": [10, 11, 12], "name": ["Ann", "Bob", "Cy"]})
merged = orders.merge(customers, on="customer", how="left")
print(merged.name.isna().sum(), "order without a customer")
print(merged.groupby("name", dropna=False).total.agg(["count", "sum"]).sort_values("sum"))
