import pandas as pd, sqlite3
con = sqlite3.connect("s.db"); pd.DataFrame({"n": range(100)}).to_sql("t", con, index=False, chunksize=10); print(pd.read_sql_query("select n % 3 m, count(*) c from t group by m", con)); con.close()
