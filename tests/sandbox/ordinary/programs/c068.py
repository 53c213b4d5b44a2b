import duckdb
print(duckdb.sql("select 42 as answer").fetchall())
duckdb.sql("copy (select range as i from range(100)) to 'r.parquet'")
print(duckdb.sql("select count(*), max(i) from 'r.parquet'").fetchall())
