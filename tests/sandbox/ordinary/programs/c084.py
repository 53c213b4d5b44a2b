import pandas as pd
with pd.ExcelWriter("two.xlsx") as w:
    pd.DataFrame({"a": [1]}).to_excel(w, sheet_name="one"); pd.DataFrame({"b": [2]}).to_excel(w, sheet_name="two")
print(list(pd.read_excel("two.xlsx", sheet_name=None)))
