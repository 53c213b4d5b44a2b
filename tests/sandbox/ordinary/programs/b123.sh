#!/usr/bin/env bash
set -euo pipefail
csv=$(mktemp)
trap 'rm -f "$csv"' EXIT
cat > "$csv" <<'END'
name,hours,rate
Ann,38,25
Bob,12,40
Cy,45,18
END
total=0
{
  read -r header
  echo "columns: ${header//,/ | }"
  while IFS=, read -r name hours rate; do
    pay=$((hours * rate))
    ((hours > 40)) && pay=$((pay + (hours - 40) * rate / 2))
    total=$((total + pay))
    printf '%-5s %3dh %5d\n' "$name" "$hours" "$pay"
  done
} < "$csv"
printf '%s %d\n' total "$total"
python3 - "$csv" <<'END'
import csv, sqlite3, sys
db = sqlite3.connect(":memory:")
db.execute("create table t (name, hours int, rate int)")
with open(sys.argv[1]) as fh:
    db.executemany("insert into t values (:name, :hours, :rate)", csv.DictReader(fh))
print(db.execute("select sum(hours), max(rate) from t").fetchone())
END
