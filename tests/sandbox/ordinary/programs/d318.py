from openpyxl import Workbook, load_workbook
from openpyxl.styles import Font

book = Workbook()
sheet = book.active
sheet.title = "Budget"
sheet.append(["item", "cost"])
for row in (("rent", 900), ("food", 350), ("bus", 60)):
    sheet.append(row)
sheet["B5"] = "=SUM(B2:B4)"
sheet["A1"].font = Font(bold=True)
book.save("budget.xlsx")
loaded = load_workbook("budget.xlsx")["Budget"]
print(loaded.max_row, loaded["B5"].value, loaded["A1"].font.bold, [cell.value for cell in loaded["A"]])
