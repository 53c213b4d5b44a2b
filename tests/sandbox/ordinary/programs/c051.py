import polars as pl
df = pl.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
print(df.group_by("k").agg(pl.col("v").sum()).sort("k"))
