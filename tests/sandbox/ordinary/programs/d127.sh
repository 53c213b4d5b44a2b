#!/usr/bin/env bash
cat > people.txt <<'END'
Smith, John (1980)
Doe, Jane (1975)
Roe, Rick (1999)
END
sed -E 's/^(\w+), (\w+) \(([0-9]{4})\)$/\2 \1 was born in \3/' people.txt
awk -F'[(),]' '{ gsub(/ /, "", $2); print 2024 - $3, $2 }' people.txt | sort -n
grep -oP '\(\K\d+' people.txt | sort | head -1
grep -v -e Doe people.txt | wc -l
