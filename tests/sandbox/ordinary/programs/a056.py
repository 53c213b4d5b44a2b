from datetime import datetime

import numpy as np
import polars as pl

rng = np.random.default_rng(44)
times = pl.datetime_range(datetime(2024, 5, 1), datetime(2024, 5, 3), interval="30m", eager=True, closed="left")
df = pl.DataFrame({"ts": times, "temp": np.round(18 + 5 * np.sin(np.arange(len(times)) / 7.6) + rng.normal(0, 0.5, len(times)), 2)})

six_hourly = df.group_by_dynamic("ts", every="6h").agg(
    pl.col("temp").mean().round(2).alias("mean"),
    pl.col("temp").min().alias("min"),
    pl.col("temp").max().alias("max"),
)
print(six_hourly)

smoothed = df.with_columns(pl.col("temp").rolling_mean(window_size=4).alias("smooth"))
print(smoothed.filter(pl.col("smooth").is_not_null()).head(3))
hot = df.filter(pl.col("temp") > df["temp"].quantile(0.95))
print("hot readings:", hot.height, "first at", hot["ts"][0].isoformat())
