#!/usr/bin/env bash
declare -i total=0
while read -r item price qty; do
  total+=$((price * qty))
  printf '%-8s %3d x %4d\n' "$item" "$qty" "$price"
done <<< $'tea 350 2\ncup 800 1\nspoon 120 6'
printf 'total %d.%02d\n' $((total / 100)) $((total % 100))
