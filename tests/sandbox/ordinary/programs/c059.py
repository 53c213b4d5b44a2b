import polars as pl
a = pl.DataFrame({"t": [1, 5, 10], "p": [100, 101, 99]}); b = pl.DataFrame({"t": [2, 6, 11]})
print(b.join_asof(a, on="t"))
