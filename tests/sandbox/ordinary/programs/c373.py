import sqlite3, threading
db = sqlite3.connect("q.db", isolation_level=None); db.execute("pragma journal_mode=wal"); db.execute("create table jobs(id integer primary key, done int default 0)"); db.executemany("insert into jobs(id) values(?)", [(i,) for i in range(6)])
def work():
    c = sqlite3.connect("q.db", timeout=10); 
    for i in range(6): c.execute("update jobs set done = done + 1 where id = ?", (i,)); c.commit()
    c.close()
ts = [threading.Thread(target=work) for _ in range(3)]; [t.start() for t in ts]; [t.join() for t in ts]; print(db.execute("select sum(done) from jobs").fetchone()); db.row_factory = sqlite3.Row; print(dict(db.execute("select * from jobs limit 1").fetchone()))
try: db.execute("insert into jobs(id) values (1)")
except sqlite3.IntegrityError as e: print(e)
