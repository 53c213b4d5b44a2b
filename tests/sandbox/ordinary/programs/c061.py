import pyarrow as pa, pyarrow.dataset as ds
t = pa.table({"year": [2020, 2020, 2021], "v": [1, 2, 3]})
ds.write_dataset(t, "data", format="parquet", partitioning=ds.partitioning(pa.schema([("year", pa.int64())]), flavor="hive"))
d = ds.dataset("data", partitioning="hive")
print(len(d.files), d.to_table(filter=ds.field("year") == 2020).num_rows)
