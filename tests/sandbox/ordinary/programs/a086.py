import pandas as pd
from openpyxl import Workbook

wb = Workbook()
ws = wb.active
ws.append(["Quarterly export - do not edit"])
ws.append([])
ws.append([" Name ", "Signup Date", "Spend ($)", None])
ws.append(["ann ", "2024-01-05", "1,200.50", None])
ws.append(["BOB", "2024/02/17", "n/a", None])
ws.append([None, None, None, None])
ws.append(["Cy", "2024-03-01", "310", "note"])
wb.save("messy.xlsx")

df = pd.read_excel("messy.xlsx", header=2)
df = df.dropna(how="all").iloc[:, :3]
df.columns = ["name", "signup", "spend"]
df["name"] = df["name"].str.strip().str.title()
df["signup"] = pd.to_datetime(df["signup"].str.replace("/", "-"))
df["spend"] = pd.to_numeric(df["spend"].astype(str).str.replace(",", ""), errors="coerce")

with pd.ExcelWriter("messy.xlsx", engine="openpyxl", mode="a", if_sheet_exists="replace") as xw:
    df.to_excel(xw, sheet_name="clean", index=False)

xls = pd.ExcelFile("messy.xlsx")
print(xls.sheet_names)
print(pd.read_excel(xls, sheet_name="clean").to_string())
print("total spend:", df["spend"].sum())
