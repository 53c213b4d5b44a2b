#!/usr/bin/env bash
# Rotate logs: keep the three newest, compress the older ones.
set -euo pipefail
mkdir logs
for n in 1 2 3 4 5; do
  echo "entry $n" > "logs/app.log.$n"
  touch -d "2024-01-0$n" "logs/app.log.$n"
done
ls -t logs | tail -n +4 | while read -r old; do
  gzip -n "logs/$old"
done
ls logs
zcat logs/app.log.1.gz
