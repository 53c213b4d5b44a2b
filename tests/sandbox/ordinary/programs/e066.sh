#!/usr/bin/env bash
printf 'x,y\n1,2\n3,4\n' > t.csv
python3 -c '
import csv
rows = list(csv.DictReader(open("t.csv")))
print(sum(int(r["x"]) * int(r["y"]) for r in rows))
'
cut -d, -f2 t.csv | tail -n +2 | paste -sd' '
