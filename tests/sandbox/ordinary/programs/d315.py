import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

table = pa.table({"id": [1, 2, 3, 4], "amount": [9.5, 20.0, None, 3.25]})
pq.write_table(table, "amounts.parquet", compression="zstd")
loaded = pq.read_table("amounts.parquet", columns=["amount"])
print(loaded.num_rows, pc.sum(loaded["amount"]).as_py(), loaded["amount"].null_count)
print(table.filter(pc.greater(table["amount"], 5)).to_pydict(), pq.read_metadata("amounts.parquet").num_columns)
