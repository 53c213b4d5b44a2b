#!/usr/bin/env bash
cat > staff.csv <<'END'
name,team,salary
Ann,eng,5200
Bob,ops,4100
Cy,eng,6100
Di,ops,4300
END
awk -F, 'NR > 1 { sum[$2] += $3; n[$2]++; if ($3 > top) { top = $3; who = $1 } }
  END { for (t in sum) printf "%s %.1f\n", t, sum[t] / n[t] | "sort"; close("sort"); print "top:", who }' staff.csv
sort -t, -k3,3nr staff.csv | head -2 | cut -d, -f1
paste -sd+ <(tail -n +2 staff.csv | cut -d, -f3) | bc 2> /dev/null || echo "no bc"
join -t, <(sort staff.csv | grep -v name | cut -d, -f1,2) <(printf 'Ann,2019\nDi,2021\n')
