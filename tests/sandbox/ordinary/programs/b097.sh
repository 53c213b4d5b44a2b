#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
seq 1 5000 > numbers
cp numbers original
gzip -9 numbers
zcat numbers.gz | tail -n 2
gzip -t numbers.gz && echo "archive is fine"
split -b 4096 -d numbers.gz part.
ls part.* | wc -l
cat part.* > joined.gz
cmp numbers.gz joined.gz && echo "joined is identical"
gunzip -c joined.gz | cmp - original && echo "content is identical"
zgrep -c '99' joined.gz
gunzip joined.gz
md5sum < joined | cut -d' ' -f1
split -l 2000 original lines_ && wc -l lines_* | awk '{ print $1 }'
