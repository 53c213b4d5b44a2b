#!/bin/bash
set -euo pipefail
out=report
mkdir -p "$out"
for file in data/*.csv; do
  name=$(basename "$file" .csv)
  sort -t, -k2 "$file" | uniq > "$out/$name.txt"
done
tar czf report.tgz "$out"
