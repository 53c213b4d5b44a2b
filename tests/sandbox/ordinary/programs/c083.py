import openpyxl
from openpyxl.styles import Font, PatternFill
from openpyxl.chart import BarChart, Reference
wb = openpyxl.Workbook(); ws = wb.active
for r in [["q", "eur"], ["Q1", 10], ["Q2", 30]]: ws.append(r)
ws["A1"].font = Font(bold=True); ws["B1"].fill = PatternFill("solid", fgColor="FFEE00")
c = BarChart(); c.add_data(Reference(ws, min_col=2, min_row=1, max_row=3), titles_from_data=True); ws.add_chart(c, "D2")
wb.save("q.xlsx")
print(openpyxl.load_workbook("q.xlsx").active["B3"].value)
