import pathlib
import sqlite3
import tempfile
import threading
import time

folder = tempfile.TemporaryDirectory()
db = pathlib.Path(folder.name) / "stats.db"
with sqlite3.connect(db) as conn:
    conn.execute("create table beats (n integer)")
started = threading.Event()


def flusher():
    conn = sqlite3.connect(db)
    n = 0
    while True:
        n += 1
        try:
            with conn:
                conn.execute("insert into beats values (?)", (n,))
        except sqlite3.OperationalError:
            return
        started.set()
        time.sleep(0.03)


threading.Thread(target=flusher, daemon=True).start()
started.wait(5)
primes = [n for n in range(2, 100) if all(n % d for d in range(2, n))]
print("primes below 100:", len(primes), "last", primes[-1])
with sqlite3.connect(db) as conn:
    (count,) = conn.execute("select count(*) from beats").fetchone()
print("some beats were written:", count >= 1)
