import duckdb, pandas as pd
sales = pd.DataFrame({"shop": ["A", "B", "A"], "eur": [10, 20, 5]})
print(duckdb.query("select shop, sum(eur) s from sales group by shop order by shop").df())
