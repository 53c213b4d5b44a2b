import io
import pandas as pd

csv = io.StringIO("""employee,dept,salary,start
Ann,Engineering,5200,2019-03-01
Bob,Engineering,4700,2021-07-15
Cid,Sales,3900,2020-01-20
Dan,Sales,4100,2018-11-05
Eve,Engineering,6100,2016-05-09
Fay,HR,3600,2022-02-28
""")
df = pd.read_csv(csv, parse_dates=["start"])

print(df.dtypes.astype(str).to_dict()["start"].startswith("datetime64"))
by_dept = df.groupby("dept").agg(
    headcount=("employee", "count"),
    avg_salary=("salary", "mean"),
    earliest=("start", "min"),
).sort_values("avg_salary", ascending=False)
print(by_dept)

df["share"] = df["salary"] / df.groupby("dept")["salary"].transform("sum")
print(df[["employee", "dept", "share"]].round(3).to_string(index=False))
print("veterans:", df.nsmallest(2, "start")["employee"].tolist())
