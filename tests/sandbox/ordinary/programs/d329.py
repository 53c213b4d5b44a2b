import pandas as pd
import numpy as np

sales = pd.DataFrame({
    "region": ["N", "N", "S", "S", "S"], "quarter": ["Q1", "Q2", "Q1", "Q2", "Q2"], "amount": [10, 20, 5, 15, 5],
})
print(sales.pivot_table(index="region", columns="quarter", values="amount", aggfunc="sum", margins=True))
print(sales.assign(share=lambda d: (d.amount / d.groupby("region").amount.transform("sum")).round(2)).share.tolist())
with pd.ExcelWriter("sales.xlsx") as writer:
    for region, rows in sales.groupby("region"):
        rows.to_excel(writer, sheet_name=region, index=False)
print(list(pd.read_excel("sales.xlsx", sheet_name=None)), np.isclose(sales.amount.std(), 6.5192).item())
