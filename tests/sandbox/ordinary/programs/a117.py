import pandas as pd

orders = pd.DataFrame({"order": [101, 102, 103, 104, 105], "cust": [1, 2, 2, 7, 3], "total": [50, 20, 75, 30, 10]})
customers = pd.DataFrame({"cust": [1, 2, 3, 4], "name": ["Ida", "Jon", "Kat", "Leo"]})
vip = pd.DataFrame({"cust": [2], "since": pd.to_datetime(["2020-05-01"])})

m = orders.merge(customers, on="cust", how="outer", indicator=True).merge(vip, on="cust", how="left")
print(m.to_string())
print(m["_merge"].value_counts().sort_index().to_dict())

try:
    orders.merge(customers, on="cust", validate="one_to_one")
except pd.errors.MergeError as e:
    print("validation failed:", str(e).split(";")[0])

prices = pd.DataFrame({"t": pd.to_datetime(["09:00", "09:05", "09:10"], format="%H:%M"), "px": [10.0, 10.5, 10.2]})
trades = pd.DataFrame({"t": pd.to_datetime(["09:01", "09:06", "09:12"], format="%H:%M"), "qty": [5, 3, 8]})
asof = pd.merge_asof(trades, prices, on="t")
print("notional:", (asof.qty * asof.px).tolist())
print(pd.concat([orders.head(1), orders.tail(1)], keys=["first", "last"]))
