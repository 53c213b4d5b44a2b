import polars as pl

raw = pl.DataFrame({"line": [
    "2024-01-01 ERROR [auth] login failed for user=alice",
    "2024-01-01 INFO  [web] GET /index 200",
    "2024-01-02 ERROR [db] timeout after 30s",
    "2024-01-02 WARN  [auth] slow response 1200ms",
    "2024-01-03 ERROR [auth] login failed for user=bob",
    "garbage line",
]})

parsed = raw.with_columns(
    pl.col("line").str.extract(r"^(\d{4}-\d{2}-\d{2})", 1).str.to_date(strict=False).alias("date"),
    pl.col("line").str.extract(r"\b(ERROR|WARN|INFO)\b", 1).alias("level"),
    pl.col("line").str.extract(r"\[(\w+)\]", 1).cast(pl.Categorical).alias("module"),
    pl.col("line").str.extract(r"user=(\w+)", 1).alias("user"),
).drop("line")
print(parsed)

counts = parsed.drop_nulls("level").group_by("level").len().sort("level")
for level, n in counts.iter_rows():
    print(level, n)
print("users:", parsed["user"].drop_nulls().unique().sort().to_list())
