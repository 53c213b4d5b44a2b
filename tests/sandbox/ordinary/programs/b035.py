import os
import sqlite3
import tempfile

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "stock.db")
    conn = sqlite3.connect(path)
    print("journal:", conn.execute("pragma journal_mode=wal").fetchone()[0])
    with conn:
        conn.execute("create table stock (item text primary key, qty int check (qty >= 0))")
        conn.executemany("insert into stock values (?, ?)", [("nut", 40), ("bolt", 25)])
    try:
        with conn:
            conn.execute("update stock set qty = qty - 30 where item = 'bolt'")
    except sqlite3.IntegrityError as exc:
        print("refused:", exc)
    copy = sqlite3.connect(":memory:")
    conn.backup(copy)
    conn.close()
    for line in copy.iterdump():
        print(line)
    copy.close()
