import pyarrow as pa, pyarrow.parquet as pq
t = pa.table({"id": [1, 2, 3], "name": ["x", "y", "z"]})
for codec in ["snappy", "gzip", "zstd", "none"]:
    pq.write_table(t, f"{codec}.parquet", compression=codec)
print(pq.read_table("zstd.parquet", columns=["id"]).to_pydict(), pq.ParquetFile("gzip.parquet").metadata.num_rows)
