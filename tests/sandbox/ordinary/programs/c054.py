import polars as pl
lf = pl.LazyFrame({"a": [1, 2, 3, 4]})
lf.with_columns(b=pl.col("a") * 2).sink_csv("out.csv")
print(open("out.csv").read())
