python3 - <<'P' | while read -r a b; do echo "$b-$a"; done
for i in range(3): print(i, i * i)
P
python3 -c 'import sys; sys.exit(3)'; echo $?; echo '{"k": [1]}' | python3 -c 'import json,sys; print(json.load(sys.stdin)["k"])'; echo 'a,b' > x.csv; python3 -c "
import csv
print(list(csv.reader(open('x.csv'))))"; python3 -m zipfile -c z.zip x.csv; python3 -m zipfile -l z.zip | tail -1 | awk '{print $1}'; python3 -m compileall -q . ; python3 -X utf8 -c 'print("é")'; PYTHONPATH=. python3 -c 'import site; print(len(site.getsitepackages()) > 0)'; env python3 -E -c 'print(1)'
