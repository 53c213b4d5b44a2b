#!/usr/bin/env bash
numbers=(4 8 15 16 23 42)
sum=0; for n in "${numbers[@]}"; do ((sum += n)); done
mean=$(awk -v s="$sum" -v c="${#numbers[@]}" 'BEGIN { printf "%.2f", s / c }')
sd=$(printf '%s\n' "${numbers[@]}" | awk '{ s += $1; q += $1 * $1 } END { printf "%.2f", sqrt(q / NR - (s / NR) ^ 2) }')
echo "sum $sum mean $mean sd $sd"
printf '%s\n' "${numbers[@]}" | sort -n | awk '{ v[NR] = $1 } END { print "median", (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
