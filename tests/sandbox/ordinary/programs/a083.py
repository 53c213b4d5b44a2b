from io import BytesIO
from openpyxl import Workbook, load_workbook
from openpyxl.formatting.rule import CellIsRule, ColorScaleRule
from openpyxl.styles import Border, Font, NamedStyle, PatternFill, Side
from openpyxl.worksheet.datavalidation import DataValidation

wb = Workbook()
ws = wb.create_sheet("Tasks", 0)
money = NamedStyle(name="money", number_format="#,##0.00", font=Font(italic=True), border=Border(bottom=Side(style="thin")))
wb.add_named_style(money)

ws.append(["Task", "Status", "Cost"])
for i, (t, s) in enumerate([("Plan", "done"), ("Build", "open"), ("Test", "open"), ("Ship", "blocked")]):
    ws.append([t, s, 1250.5 * (i + 1)])
    ws.cell(row=i + 2, column=3).style = "money"

dv = DataValidation(type="list", formula1='"open,done,blocked"', allow_blank=False)
ws.add_data_validation(dv)
dv.add("B2:B50")
red = PatternFill(bgColor="FFC7CE")
ws.conditional_formatting.add("B2:B50", CellIsRule(operator="equal", formula=['"blocked"'], fill=red))
ws.conditional_formatting.add("C2:C50", ColorScaleRule(start_type="min", start_color="00FF00", end_type="max", end_color="FF0000"))

mem = BytesIO()
wb.save(mem)
mem.seek(0)
wb2 = load_workbook(mem)
print(wb2.sheetnames)
print([(c.value, c.style, c.number_format) for c in wb2["Tasks"]["C"]][1:3])
print("validations:", wb2["Tasks"].data_validations.count, "cf ranges:", len(wb2["Tasks"].conditional_formatting))
