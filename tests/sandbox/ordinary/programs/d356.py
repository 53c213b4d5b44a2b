import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds
import pyarrow.feather as feather

table = pa.table({"year": [2023, 2023, 2024], "city": ["Oslo", "Rome", "Oslo"], "rain": [800, 600, 790]})
ds.write_dataset(table, "rain", format="parquet", partitioning=ds.partitioning(pa.schema([("year", pa.int64())])))
print(ds.dataset("rain", partitioning=["year"]).to_table(filter=ds.field("year") == 2023).num_rows)
feather.write_feather(table, "rain.feather")
pa.csv.write_csv(table, "rain.csv")
print(feather.read_table("rain.feather").equals(table), pa.csv.read_csv("rain.csv").schema.names)
print(table.group_by("city").aggregate([("rain", "sum")]).sort_by("city").to_pylist())
