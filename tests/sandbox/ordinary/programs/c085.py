import openpyxl
wb = openpyxl.Workbook(write_only=True)
ws = wb.create_sheet("log")
for i in range(500): ws.append([i, f"row {i}"])
wb.save("big.xlsx")
ro = openpyxl.load_workbook("big.xlsx", read_only=True)
print(sum(r[0] for r in ro["log"].iter_rows(values_only=True)))
