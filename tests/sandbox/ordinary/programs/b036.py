import sqlite3

db = sqlite3.connect(":memory:")
db.execute("create table sale (day int, amount int)")
db.executemany("insert into sale values (?, ?)", [(d, (d * 37) % 11 + 1) for d in range(1, 9)])
sql = """
select day, amount,
       sum(amount) over (order by day) as running,
       rank() over (order by amount desc) as place
from sale order by day
"""
for row in db.execute(sql):
    print("{:>3} {:>4} {:>5} {:>3}".format(*row))
fact = """
with recursive f(n, v) as (select 1, 1 union all select n + 1, v * (n + 1) from f where n < 10)
select n, v from f where n % 3 = 1
"""
print(db.execute(fact).fetchall())
plan = db.execute("explain query plan select * from sale where day = 3").fetchall()
print("plan steps:", len(plan))
