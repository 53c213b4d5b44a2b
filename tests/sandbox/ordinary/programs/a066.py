import duckdb

con = duckdb.connect()
con.execute("""
    CREATE TABLE sales (id INTEGER, region VARCHAR, product VARCHAR, qty INTEGER, price DECIMAL(8,2), sold DATE);
""")
con.execute("""
    INSERT INTO sales
    SELECT i,
           ['north','south','east','west'][1 + i % 4],
           ['pen','book','lamp'][1 + i % 3],
           1 + (i * 7) % 5,
           5 + (i * 13) % 40,
           DATE '2024-01-01' + CAST(i % 90 AS INTEGER)
    FROM range(500) t(i);
""")

rows = con.execute("""
    SELECT region, product, SUM(qty) AS units, SUM(qty * price) AS revenue
    FROM sales GROUP BY ALL ORDER BY revenue DESC, region, product LIMIT 5
""").fetchall()
for r in rows:
    print(r)

print(con.sql("SELECT month(sold) AS m, count(*) AS n, round(avg(price), 2) AS avg_price FROM sales GROUP BY m ORDER BY m"))
con.close()
