from sqlalchemy import Column, Integer, MetaData, String, Table, create_engine, func, literal, select

engine = create_engine("sqlite://")
md = MetaData()
emp = Table("emp", md, Column("id", Integer, primary_key=True), Column("name", String),
            Column("boss", Integer), Column("pay", Integer))
md.create_all(engine)

people = [(1, "Root", None, 900), (2, "Lena", 1, 700), (3, "Max", 1, 650),
          (4, "Ola", 2, 500), (5, "Pia", 2, 520), (6, "Quin", 4, 300)]

tree = select(emp.c.id, emp.c.name, literal(0).label("depth"), emp.c.name.label("path")).where(emp.c.boss.is_(None)).cte("tree", recursive=True)
tree = tree.union_all(
    select(emp.c.id, emp.c.name, tree.c.depth + 1, tree.c.path + " > " + emp.c.name).join(tree, emp.c.boss == tree.c.id)
)
rank = select(emp.c.name, func.rank().over(order_by=emp.c.pay.desc()).label("r")).order_by("r")

with engine.connect() as c:
    c.execute(emp.insert(), [dict(zip(("id", "name", "boss", "pay"), p)) for p in people])
    for _, name, depth, path in c.execute(select(tree).order_by(tree.c.path)):
        print("  " * depth + name, f"[{path}]")
    print([(n, r) for n, r in c.execute(rank)])
    c.commit()
