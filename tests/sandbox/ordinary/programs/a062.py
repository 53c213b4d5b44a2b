import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv
import pyarrow.feather as feather

with open("stations.csv", "w", encoding="utf-8") as f:
    f.write("station,line,passengers\n")
    f.writelines(f"S{i % 7},L{i % 3},{(i * 37) % 1000}\n" for i in range(200))

table = pcsv.read_csv("stations.csv")
table = table.set_column(1, "line", pc.dictionary_encode(table["line"]))
feather.write_feather(table, "stations.feather")

t2 = feather.read_table("stations.feather")
print(t2.schema.to_string())
print("total:", pc.sum(t2["passengers"]).as_py(), "mean:", pc.mean(t2["passengers"]).as_py())
print("min/max:", pc.min_max(t2["passengers"]).as_py())

top = t2.group_by("station").aggregate([("passengers", "sum")]).sort_by([("passengers_sum", "descending")])
print(top.slice(0, 3).to_pydict())
df = t2.to_pandas()
print(df.dtypes.astype(str).to_dict()["passengers"], df["line"].cat.categories.tolist())
