from sqlalchemy import create_engine, inspect, MetaData, Table, Column, Integer, String, Index
e = create_engine("sqlite:///s.db", pool_size=3)
m = MetaData()
t = Table("item", m, Column("id", Integer, primary_key=True), Column("sku", String(20)), Index("ix_sku", "sku"))
m.create_all(e)
i = inspect(e)
print(i.get_table_names(), [c["name"] for c in i.get_columns("item")], i.get_indexes("item")[0]["name"])
