#!/usr/bin/env bash
set -eu
text='the rain in spain stays mainly
in the plain and the train
is late again in the rain'
echo "$text" | awk '{ for (i = 1; i <= NF; i++) c[$i]++ } END { for (w in c) if (c[w] > 1) print c[w], w }' | sort -k1,1nr -k2
echo "$text" | awk 'length > max { max = length; line = $0 } END { print max ": " line }'
printf '1 2 3\n4 5 6\n' | awk '{ for (i = 1; i <= NF; i++) m[i, NR] = $i }
END { for (i = 1; i <= NF; i++) { row = ""; for (j = 1; j <= NR; j++) row = row (j > 1 ? " " : "") m[i, j]; print row } }'
awk 'function fact(n) { return n < 2 ? 1 : n * fact(n - 1) } BEGIN { for (i = 0; i < 8; i++) printf "%d ", fact(i); print "" }'
echo "2023-04-05" | awk -F- '{ print $3 "/" $2 "/" $1; gsub(/-/, ""); print }'
awk 'BEGIN { s = "hello"; while (s) { out = substr(s, 1, 1) out; s = substr(s, 2) } print toupper(out) }'
