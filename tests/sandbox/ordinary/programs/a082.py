import numpy as np
import pandas as pd

rng = np.random.default_rng(30)
sales = pd.DataFrame({
    "rep": rng.choice(["Kim", "Lou", "Moe"], 60),
    "quarter": rng.choice(["Q1", "Q2", "Q3", "Q4"], 60),
    "deal": rng.integers(1, 50, 60) * 100,
})
summary = sales.pivot_table(index="rep", columns="quarter", values="deal", aggfunc="sum", margins=True)

with pd.ExcelWriter("report.xlsx", engine="openpyxl") as writer:
    sales.to_excel(writer, sheet_name="raw", index=False)
    summary.to_excel(writer, sheet_name="summary")
    for rep, part in sales.groupby("rep"):
        part.to_excel(writer, sheet_name=rep, index=False)

book = pd.read_excel("report.xlsx", sheet_name=None)
print("sheets:", list(book))
print(pd.read_excel("report.xlsx", sheet_name="summary", index_col=0))
assert sum(len(book[r]) for r in ("Kim", "Lou", "Moe")) == len(book["raw"])
print("rows add up:", len(book["raw"]))
