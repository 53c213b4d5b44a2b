import pandas as pd
from sqlalchemy import create_engine, inspect, text

engine = create_engine("sqlite:///inventory.db")

items = pd.DataFrame({
    "sku": ["A1", "B2", "C3", "D4"],
    "name": ["bolt", "nut", "washer", "gear"],
    "stock": [500, 320, 0, 12],
    "unit_cost": [0.10, 0.05, 0.02, 14.5],
})
items.to_sql("items", engine, if_exists="replace", index=False)

with engine.begin() as conn:
    conn.execute(text("UPDATE items SET stock = stock + :n WHERE sku = :sku"), {"n": 100, "sku": "C3"})
    conn.execute(text("CREATE INDEX ix_sku ON items (sku)"))

low = pd.read_sql(text("SELECT sku, name, stock FROM items WHERE stock < :limit ORDER BY stock"), engine, params={"limit": 400})
print(low)
value = pd.read_sql("SELECT SUM(stock * unit_cost) AS v FROM items", engine)["v"].iloc[0]
print("inventory value: %.2f" % value)

insp = inspect(engine)
print(insp.get_table_names(), [c["name"] for c in insp.get_columns("items")])
print([ix["name"] for ix in insp.get_indexes("items")])
engine.dispose()
