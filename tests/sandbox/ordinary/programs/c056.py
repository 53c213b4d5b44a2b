import polars as pl
df = pl.DataFrame({"n": ["x"] * 3 + ["y"] * 2, "q": [3, 1, 2, 9, 8]})
print(df.with_columns(r=pl.col("q").rank().over("n"), c=pl.col("q").cum_sum().over("n")).to_dicts())
