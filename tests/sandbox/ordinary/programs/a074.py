from sqlalchemy import (Column, ForeignKey, Integer, MetaData, Numeric, String, Table,
                        create_engine, func, insert, select)

engine = create_engine("sqlite://")
meta = MetaData()
customers = Table("customers", meta, Column("id", Integer, primary_key=True), Column("name", String, nullable=False))
invoices = Table(
    "invoices", meta,
    Column("id", Integer, primary_key=True),
    Column("customer_id", ForeignKey("customers.id")),
    Column("total", Integer),
)
meta.create_all(engine)

with engine.begin() as conn:
    conn.execute(insert(customers), [{"id": 1, "name": "Acme"}, {"id": 2, "name": "Globex"}, {"id": 3, "name": "Initech"}])
    conn.execute(insert(invoices), [{"customer_id": 1 + i % 2, "total": 100 + 35 * i} for i in range(7)])

stmt = (
    select(customers.c.name, func.count(invoices.c.id).label("n"), func.coalesce(func.sum(invoices.c.total), 0).label("sum"))
    .select_from(customers.outerjoin(invoices))
    .group_by(customers.c.name)
    .order_by(func.sum(invoices.c.total).desc())
)
print(stmt)
with engine.connect() as conn:
    for row in conn.execute(stmt):
        print(row.name, row.n, row.sum)
