import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

rng = np.random.default_rng(4)
df = pd.DataFrame({
    "year": rng.choice([2022, 2023, 2024], 300),
    "country": rng.choice(["fr", "de"], 300),
    "value": rng.normal(100, 15, 300).round(2),
})
pq.write_to_dataset(pa.Table.from_pandas(df), root_path="dataset", partition_cols=["year", "country"])

data = ds.dataset("dataset", format="parquet", partitioning="hive")
print("fragments:", len(data.files))
sub = data.to_table(filter=(ds.field("year") == 2024) & (ds.field("value") > 110))
print("filtered rows:", sub.num_rows, "expected:", int(((df.year == 2024) & (df.value > 110)).sum()))

agg = data.to_table().group_by(["year", "country"]).aggregate([("value", "mean"), ("value", "count")])
print(agg.to_pandas().sort_values(["year", "country"]).round(2).to_string(index=False))
