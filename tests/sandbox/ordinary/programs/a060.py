import pyarrow as pa
import pyarrow.parquet as pq

schema = pa.schema([
    pa.field("id", pa.int32(), nullable=False),
    pa.field("name", pa.string()),
    pa.field("tags", pa.list_(pa.string())),
    pa.field("price", pa.decimal128(8, 2)),
])
from decimal import Decimal
rows = [
    {"id": 1, "name": "pen", "tags": ["office"], "price": Decimal("1.20")},
    {"id": 2, "name": "lamp", "tags": ["home", "light"], "price": Decimal("24.90")},
    {"id": 3, "name": "mug", "tags": [], "price": None},
]
table = pa.Table.from_pylist(rows, schema=schema)
pq.write_table(table, "items.parquet", compression="snappy")

meta = pq.read_metadata("items.parquet")
print("rows:", meta.num_rows, "row groups:", meta.num_row_groups, "columns:", meta.num_columns)
back = pq.read_table("items.parquet", columns=["id", "price"])
print(back.schema)
print(back.to_pylist())
