import pandas as pd

index = pd.MultiIndex.from_product([["2023", "2024"], ["jan", "feb"]], names=["year", "month"])
sales = pd.DataFrame({"units": [3, 4, 5, 8]}, index=index)
print(sales.unstack("month"))
print(sales.loc["2024"].units.sum(), sales.xs("jan", level="month").units.tolist())
print(sales.groupby(level="year").units.agg(["min", "max"]).to_dict("index"), sales.units.shift().fillna(0).tolist())
