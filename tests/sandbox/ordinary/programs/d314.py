import polars as pl

frame = pl.DataFrame({"city": ["Oslo", "Rome", "Oslo", "Rome"], "year": [2022, 2022, 2023, 2023], "rain": [812, 630, 790, 701]})
print(frame.group_by("city").agg(pl.col("rain").mean().alias("mean"), pl.len()).sort("city"))
print(frame.with_columns((pl.col("rain") / pl.col("rain").max().over("city")).round(3).alias("share"))["share"].to_list())
frame.write_csv("rain.csv")
print(pl.scan_csv("rain.csv").filter(pl.col("year") == 2023).select("rain").collect().to_series().sum())
