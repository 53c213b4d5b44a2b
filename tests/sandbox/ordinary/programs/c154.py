import sqlite3, contextlib
with contextlib.closing(sqlite3.connect("n.db")) as db:
    db.execute("create virtual table notes using fts5(body)"); db.executemany("insert into notes values (?)", [("buy milk",), ("call bob",)])
    db.commit(); print(db.execute("select body from notes where notes match 'milk'").fetchall())
    db.execute("vacuum"); b = sqlite3.connect("copy.db"); db.backup(b); print(b.execute("select count(*) from notes").fetchone()); b.close()
