#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
keep=3
rotate() {
  local n
  rm -f "app.log.$keep.gz"
  for ((n = keep - 1; n >= 1; n--)); do
    [ -f "app.log.$n.gz" ] && mv "app.log.$n.gz" "app.log.$((n + 1)).gz"
  done
  [ -f app.log ] && gzip -nc app.log > app.log.1.gz && : > app.log
  return 0
}
line=0
for round in 1 2 3 4 5; do
  for _ in $(seq "$round"); do
    line=$((line + 1))
    echo "round $round line $line" >> app.log
  done
  rotate
done
echo "last" >> app.log
ls | xargs
for f in app.log.*.gz; do
  echo "$f: $(zcat "$f" | wc -l) lines, first: $(zcat "$f" | head -n 1)"
done
cat app.log
