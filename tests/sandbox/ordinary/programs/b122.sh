#!/usr/bin/env bash
set -eu
export TZ=UTC LC_ALL=C
for offset in 0 1 30 60 365; do
  date -d "2024-01-31 + $offset days" '+%F %a week %V day %j'
done
date -u -d @86400 '+%FT%TZ'
a=$(date -d 2024-12-25 +%s)
b=$(date -d 2024-07-04 +%s)
echo "days between: $(((a - b) / 86400))"
TZ=Asia/Tokyo date -d '2024-03-01 00:00 UTC' '+%F %R %Z'
for y in 1900 2000 2023 2024; do
  if date -d "$y-02-29" > /dev/null 2>&1; then echo "$y leap"; else echo "$y common"; fi
done
seq -w 8 2 12 | xargs
seq -f 'day-%02g' 1 3
