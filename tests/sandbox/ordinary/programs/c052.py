import polars as pl
pl.DataFrame({"x": range(1000)}).write_parquet("x.parquet")
print(pl.scan_parquet("x.parquet").filter(pl.col("x") > 990).select(pl.len()).collect().item())
