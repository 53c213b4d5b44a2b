import polars as pl
df = pl.DataFrame({"d": ["2024-01-01", "2024-02-01"], "v": [1.5, 2.5]}).with_columns(pl.col("d").str.to_date())
df.write_csv("d.csv"); df.write_ipc("d.arrow"); df.write_ndjson("d.ndjson")
print(pl.read_csv("d.csv", try_parse_dates=True).equals(df), pl.read_ipc("d.arrow").shape, pl.read_ndjson("d.ndjson").columns)
