import os
import random

import polars as pl

random.seed(3)
os.makedirs("logs", exist_ok=True)
for month in range(1, 5):
    with open(f"logs/2024-{month:02d}.csv", "w") as f:
        f.write("day,host,bytes\n")
        for day in range(1, 29):
            for host in ("web1", "web2", "db1"):
                f.write(f"{day},{host},{random.randint(1_000, 50_000)}\n")

lf = pl.scan_csv("logs/*.csv", include_file_paths="src").with_columns(
    pl.col("src").str.extract(r"(\d{4}-\d{2})\.csv", 1).alias("month")
).drop("src")
lf.sink_parquet("traffic.parquet")

out = (
    pl.scan_parquet("traffic.parquet")
    .group_by("month", "host")
    .agg(pl.col("bytes").sum())
    .sort("month", "host")
    .collect()
)
print(out)
ctx = pl.SQLContext(t=pl.scan_parquet("traffic.parquet"), eager=True)
print(ctx.execute("SELECT host, COUNT(*) AS n, MAX(bytes) AS mx FROM t GROUP BY host ORDER BY host"))
