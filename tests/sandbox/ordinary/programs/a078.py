import csv
import io
import sqlite3

import pandas as pd

CSV = """date,category,amount
2024-01-03,food,12.50
2024-01-09,rent,800
2024-01-17,food,33.10
2024-02-01,rent,800
2024-02-11,travel,120.75
2024-02-20,food,25.40
2024-03-01,rent,810
"""
conn = sqlite3.connect("expenses.db")
conn.execute("CREATE TABLE expense (date TEXT, category TEXT, amount REAL)")
with conn:
    conn.executemany("INSERT INTO expense VALUES (:date, :category, :amount)", csv.DictReader(io.StringIO(CSV)))

conn.row_factory = sqlite3.Row
for r in conn.execute("SELECT substr(date,1,7) AS month, SUM(amount) AS total FROM expense GROUP BY month ORDER BY month"):
    print(r["month"], f"{r['total']:.2f}")

df = pd.read_sql_query("SELECT * FROM expense", conn, parse_dates=["date"])
print(df.pivot_table(index="category", columns=df["date"].dt.month, values="amount", aggfunc="sum", fill_value=0))
conn.close()
