import polars as pl
print(pl.SQLContext(t=pl.DataFrame({"a": [1, 2, 3]})).execute("select sum(a) as s from t").collect())
print(pl.thread_pool_size() >= 1)
