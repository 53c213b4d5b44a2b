#!/usr/bin/env bash
set -euo pipefail
awk -F, '
  NR == 1 { next }
  { units[$1] += $3; money[$1] += $3 * $4; all += $3 * $4 }
  $3 > best { best = $3; who = $2 }
  END {
    for (r in units) printf "%-6s %5d %9.2f %5.1f%%\n", r, units[r], money[r], 100 * money[r] / all | "sort"
    close("sort")
    printf "total %.2f, best row %s with %d\n", all, who, best
  }' <<'DATA'
region,product,units,price
north,lamp,12,19.90
south,lamp,7,19.90
north,chair,3,49.00
west,table,1,210.00
south,chair,9,49.00
west,lamp,4,19.90
DATA
