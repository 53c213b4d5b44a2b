import datetime as dt
from openpyxl import Workbook, load_workbook
from openpyxl.drawing.image import Image as XLImage
from openpyxl.styles import Font
from PIL import Image, ImageDraw

logo = Image.new("RGB", (160, 60), "navy")
ImageDraw.Draw(logo).text((20, 20), "ACME Corp", fill="white")
logo.save("logo.png")

wb = Workbook()
ws = wb.active
ws.title = "Invoice"
ws.add_image(XLImage("logo.png"), "A1")
ws.merge_cells("C1:F2")
ws["C1"] = "INVOICE 2024-017"
ws["C1"].font = Font(size=18, bold=True)
ws["C3"] = dt.date(2024, 4, 30)
ws["C3"].number_format = "DD/MM/YYYY"
lines = [("Consulting", 12, 95.0), ("Travel", 1, 210.4)]
for r, (d, q, p) in enumerate(lines, start=6):
    ws.cell(r, 1, d), ws.cell(r, 2, q), ws.cell(r, 3, p)
    ws.cell(r, 4, f"=B{r}*C{r}")
wb.save("invoice.xlsx")

w = load_workbook("invoice.xlsx")["Invoice"]
print("images:", len(w._images), "merged:", [str(m) for m in w.merged_cells.ranges])
print(w["C1"].value, w["C3"].value.strftime("%d %b %Y"))
print("net: %.2f" % sum(q * p for _, q, p in lines))
