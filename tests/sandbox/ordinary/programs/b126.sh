#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
echo 0 > counter
bump() {
  local i
  for i in $(seq 20); do
    (
      flock 9
      n=$(< counter)
      echo $((n + 1)) > counter
    ) 9> lock
  done
}
for _ in 1 2 3; do bump & done
wait
echo "counter is $(< counter)"
exec 8> lock
flock -n 8 && echo "lock taken"
if ! flock -n lock true; then echo "second taker refused"; fi
exec 8>&-
flock -n lock echo "free again"
