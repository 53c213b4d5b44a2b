import random
from openpyxl import Workbook, load_workbook

random.seed(99)
wb = Workbook(write_only=True)
ws = wb.create_sheet("measurements")
ws.append(["n", "channel", "reading"])
for n in range(5000):
    ws.append([n, f"ch{n % 8}", round(random.gauss(20, 3), 3)])
wb.save("big.xlsx")

wb = load_workbook("big.xlsx", read_only=True)
ws = wb["measurements"]
totals, counts = {}, {}
rows = ws.iter_rows(min_row=2, values_only=True)
for n, channel, reading in rows:
    totals[channel] = totals.get(channel, 0) + reading
    counts[channel] = counts.get(channel, 0) + 1
wb.close()

for ch in sorted(totals):
    print(ch, counts[ch], f"{totals[ch] / counts[ch]:.3f}")
