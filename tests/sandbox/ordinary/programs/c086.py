from openpyxl import Workbook, load_workbook
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
wb = Workbook(); ws = wb.active
ws.merge_cells("A1:C1"); ws["A1"] = "Plan"; ws["A2"] = "=SUM(1,2)"; ws.freeze_panes = "A2"
dv = DataValidation(type="list", formula1='"yes,no"'); ws.add_data_validation(dv); dv.add("B2")
wb.save("v.xlsx"); w = load_workbook("v.xlsx").active
print(w["A2"].value, w.merged_cells.ranges, get_column_letter(28))
