import duckdb, pyarrow as pa, polars as pl
t = pa.table({"a": [1, 2, 3]})
print(duckdb.sql("select a * 2 as b from t").pl())
print(duckdb.sql("select list(a) l from t").fetchall())
