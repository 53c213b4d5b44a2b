import json
import pyarrow.json as pj
import pyarrow.parquet as pq

events = [
    {"user": {"id": i, "plan": "pro" if i % 3 == 0 else "free"}, "action": ["view", "click"][: 1 + i % 2], "ms": i * 1.5}
    for i in range(60)
]
with open("events.jsonl", "w") as fh:
    for e in events:
        fh.write(json.dumps(e) + "\n")

table = pj.read_json("events.jsonl")
print(table.schema)

flat = table.flatten()
pq.write_table(flat, "events.parquet", row_group_size=20)
pf = pq.ParquetFile("events.parquet")
print("row groups:", pf.num_row_groups)
for i in range(pf.num_row_groups):
    st = pf.metadata.row_group(i).column(flat.column_names.index("user.id")).statistics
    print(i, st.min, st.max)

for batch in pf.iter_batches(batch_size=30, columns=["user.plan"]):
    print(batch.num_rows, batch.to_pandas()["user.plan"].value_counts().sort_index().to_dict())
