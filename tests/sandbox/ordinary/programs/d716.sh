#!/usr/bin/env bash
# Sum up expenses by month and category.
cat > expenses.txt <<'END'
2024-01-05 food 12.30
2024-01-19 rent 700.00
2024-02-02 food 8.20
2024-02-11 fun 25.00
2024-02-20 food 14.50
END
awk '{ month = substr($1, 1, 7); sum[month " " $2] += $3; total[month] += $3 }
  END { for (k in sum) printf "%s %.2f\n", k, sum[k]; for (m in total) printf "%s total %.2f\n", m, total[m] }' expenses.txt | sort
awk '$3 > 20' expenses.txt | wc -l
