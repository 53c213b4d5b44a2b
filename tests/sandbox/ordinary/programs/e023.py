import sqlite3

db = sqlite3.connect(":memory:")
db.execute("create table visits (day text, page text, n int)")
db.executemany("insert into visits values (?, ?, ?)", [("mon", "/", 5), ("mon", "/a", 2), ("tue", "/", 9)])
for row in db.execute("select day, sum(n), max(n) from visits group by day having sum(n) > 3 order by 2 desc"):
    print(row)
print(db.execute("select page, sum(n) over (order by rowid) from visits").fetchall())
