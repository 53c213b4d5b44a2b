from openpyxl import Workbook, load_workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter

wb = Workbook()
ws = wb.active
ws.title = "Budget"
ws.append(["Item", "Q1", "Q2", "Q3", "Q4", "Total"])
for name, *vals in [("Rent", 3000, 3000, 3100, 3100), ("Travel", 450, 800, 1200, 300), ("Food", 900, 950, 980, 1010)]:
    r = ws.max_row + 1
    ws.append([name, *vals, f"=SUM(B{r}:E{r})"])

for cell in ws[1]:
    cell.font = Font(bold=True, color="FFFFFF")
    cell.fill = PatternFill("solid", start_color="4F81BD")
    cell.alignment = Alignment(horizontal="center")
for i in range(1, 7):
    ws.column_dimensions[get_column_letter(i)].width = 12
ws.freeze_panes = "B2"
wb.save("budget.xlsx")

check = load_workbook("budget.xlsx")["Budget"]
print(check.dimensions, check.freeze_panes)
for row in check.iter_rows(values_only=True):
    print(row)
