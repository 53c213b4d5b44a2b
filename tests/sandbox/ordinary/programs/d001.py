import csv
import io
from collections import defaultdict

SALES = """region,product,amount
north,tea,120.50
south,tea,80.25
north,coffee,200.00
south,coffee,150.75
north,tea,30.00
"""
totals = defaultdict(float)
for row in csv.DictReader(io.StringIO(SALES)):
    totals[row["region"], row["product"]] += float(row["amount"])
for key, total in sorted(totals.items()):
    print(*key, f"{total:.2f}")
