import duckdb

with duckdb.connect("bank.duckdb") as con:
    con.execute("CREATE TABLE tx (account TEXT, day INTEGER, amount DOUBLE)")
    data = [
        ("A", 1, 100), ("A", 2, -20), ("A", 5, 50), ("A", 9, -75),
        ("B", 1, 200), ("B", 3, -150), ("B", 4, 25), ("C", 2, 10),
    ]
    con.executemany("INSERT INTO tx VALUES (?, ?, ?)", data)

with duckdb.connect("bank.duckdb", read_only=True) as con:
    rel = con.execute("""
        SELECT account, day, amount,
               SUM(amount) OVER (PARTITION BY account ORDER BY day) AS balance,
               LAG(amount) OVER (PARTITION BY account ORDER BY day) AS previous,
               ROW_NUMBER() OVER (PARTITION BY account ORDER BY amount DESC) AS rn
        FROM tx ORDER BY account, day
    """)
    print([d[0] for d in rel.description])
    for row in rel.fetchall():
        print(row)
    low = con.execute("SELECT account FROM tx GROUP BY account HAVING SUM(amount) < ? ORDER BY 1", [60]).fetchall()
    print("low balance:", [a for (a,) in low])
