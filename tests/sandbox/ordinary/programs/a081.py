from openpyxl import Workbook, load_workbook
from openpyxl.chart import BarChart, LineChart, Reference

wb = Workbook()
ws = wb.active
rows = [("Month", "Visitors", "Signups")] + [(m, 1000 + 150 * i, 40 + 9 * i) for i, m in enumerate(["Jan", "Feb", "Mar", "Apr", "May", "Jun"])]
for row in rows:
    ws.append(row)

bar = BarChart()
bar.title = "Visitors"
bar.add_data(Reference(ws, min_col=2, min_row=1, max_row=7), titles_from_data=True)
bar.set_categories(Reference(ws, min_col=1, min_row=2, max_row=7))
ws.add_chart(bar, "E2")

line = LineChart()
line.title = "Signups"
line.add_data(Reference(ws, min_col=3, min_row=1, max_row=7), titles_from_data=True)
ws.add_chart(line, "E18")
wb.save("traffic.xlsx")

again = load_workbook("traffic.xlsx")
print("charts:", len(again.active._charts))
print("conversion:", [f"{s / v:.1%}" for _, v, s in again.active.iter_rows(min_row=2, values_only=True)])
