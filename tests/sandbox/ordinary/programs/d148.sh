#!/usr/bin/env bash
# How old are the files?
now=1700000000
for spec in "new.txt 100" "week.txt 604800" "old.txt 90000000"; do
  set -- $spec
  touch -d "@$((now - $2))" "$1"
done
for f in *.txt; do
  age=$(((now - $(stat -c %Y "$f")) / 86400))
  echo "$f $age days"
done
find . -name '*.txt' ! -newermt '2022-01-01' -print
