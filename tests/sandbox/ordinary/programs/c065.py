import pyarrow as pa, pyarrow.feather as feather, pyarrow.orc as orc
t = pa.table({"x": [1.0, 2.0]})
feather.write_feather(t, "x.feather"); orc.write_table(t, "x.orc")
print(feather.read_table("x.feather").num_rows, orc.read_table("x.orc").num_rows)
print(pa.total_allocated_bytes() >= 0, pa.cpu_count() >= 1)
