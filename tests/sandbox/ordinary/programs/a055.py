import polars as pl

emp = pl.DataFrame({
    "name": ["Ada", "Ben", "Cleo", "Dov", "Ema", "Fin"],
    "dept_id": [1, 1, 2, 2, 3, 9],
    "salary": [5200, 4800, 6100, 5900, 4300, 3900],
})
dept = pl.DataFrame({"dept_id": [1, 2, 3, 4], "dept": ["IT", "Finance", "HR", "Legal"]})

joined = emp.join(dept, on="dept_id", how="left").with_columns(
    pl.col("salary").rank(method="dense", descending=True).over("dept_id").alias("rank"),
    (pl.col("salary") - pl.col("salary").mean().over("dept_id")).alias("diff"),
)
with pl.Config(tbl_rows=20, tbl_hide_dataframe_shape=True):
    print(joined)

print("no employees:", dept.join(emp, on="dept_id", how="anti")["dept"].to_list())
print("unknown dept:", emp.join(dept, on="dept_id", how="anti")["name"].to_list())
