import polars as pl
from datetime import date

rides = pl.DataFrame({
    "day": [date(2024, 5, 1), date(2024, 5, 1), date(2024, 5, 2)], "km": [4.2, 10.0, 3.3], "who": ["ann", "bob", "ann"],
})
print(rides.pivot(on="who", index="day", values="km").fill_null(0.0).rows())
print(rides.sql("select who, sum(km) as km from self group by who order by who").rows())
print(rides.with_columns(pl.when(pl.col("km") > 5).then(pl.lit("long")).otherwise(pl.lit("short")).alias("kind"))["kind"].value_counts(sort=True).rows()[0])
rides.write_parquet("rides.parquet")
rides.write_ndjson("rides.ndjson")
print(pl.read_ndjson("rides.ndjson").shape, pl.scan_parquet("rides.parquet").collect_schema().names())
