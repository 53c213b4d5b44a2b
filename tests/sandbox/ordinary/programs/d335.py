import pandas as pd
import sqlite3

with sqlite3.connect("hr.db") as db:
    pd.DataFrame({"name": ["Ann", "Bob", "Cy"], "dept": ["eng", "ops", "eng"], "pay": [70, 50, 66]}).to_sql("staff", db, index=False)
    top = pd.read_sql("select dept, max(pay) as pay from staff group by dept order by dept", db)
print(top.to_string(index=False))
print(top.to_json(orient="records"), top.to_csv(index=False).splitlines())
