import csv
import io
import statistics
import sys
from collections import defaultdict

DATA = """city,month,rain
Oslo,Jan,49
Oslo,Feb,36
Rome,Jan,67
Rome,Feb,73
Cairo,Jan,5
Cairo,Feb,4
"Rio, Brazil",Jan,137
"""

by_city = defaultdict(list)
for row in csv.DictReader(io.StringIO(DATA)):
    by_city[row["city"]].append(int(row["rain"]))
writer = csv.writer(sys.stdout, lineterminator="\n")
writer.writerow(["city", "months", "mean", "max"])
for city in sorted(by_city):
    values = by_city[city]
    writer.writerow([city, len(values), statistics.mean(values), max(values)])
dialect = csv.Sniffer().sniff("a;b;c\n1;2;3\n", delimiters=";,")
print("sniffed delimiter:", dialect.delimiter)
