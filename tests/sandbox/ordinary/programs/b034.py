import sqlite3

conn = sqlite3.connect(":memory:")
conn.row_factory = sqlite3.Row
conn.executescript("""
create table author (id integer primary key, name text);
create table book (id integer primary key, author_id integer references author, title text, pages int);
""")
conn.executemany("insert into author values (?, ?)", [(1, "Ada"), (2, "Grace"), (3, "Linus")])
conn.executemany(
    "insert into book (author_id, title, pages) values (?, ?, ?)",
    [(1, "Engines", 120), (1, "Notes", 80), (2, "Compilers", 310)],
)
conn.create_function("shout", 1, lambda s: s.upper() + "!")
query = """
select shout(a.name) as who, count(b.id) as books, coalesce(sum(b.pages), 0) as pages
from author a left join book b on b.author_id = a.id
group by a.id order by pages desc, who
"""
for row in conn.execute(query):
    print(row["who"], row["books"], row["pages"])
try:
    with conn:
        conn.execute("delete from book")
        raise RuntimeError("changed my mind")
except RuntimeError as exc:
    print("rolled back:", exc)
print("books left", conn.execute("select count(*) from book").fetchone()[0])
