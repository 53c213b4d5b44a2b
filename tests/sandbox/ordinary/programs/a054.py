import os
import polars as pl

df = pl.DataFrame({
    "id": [1, 2, 3, 4],
    "name": ["Zoë", "Jürgen", "李雷", None],
    "score": [9.5, None, 7.25, 8.0],
    "joined": ["2024-01-05", "2024-02-10", "2024-03-15", "2024-04-20"],
}).with_columns(pl.col("joined").str.to_date())

df.write_csv("people.csv")
df.write_parquet("people.parquet", compression="zstd")
df.write_ndjson("people.ndjson")

from_csv = pl.read_csv("people.csv", try_parse_dates=True)
from_parquet = pl.read_parquet("people.parquet")
from_json = pl.read_ndjson("people.ndjson")

print("csv equal:", from_csv.equals(df))
print("parquet equal:", from_parquet.equals(df))
print("ndjson rows:", from_json.height)
print(sorted(f for f in os.listdir(".") if f.startswith("people")))
print(from_parquet.schema)
print(df.null_count())
