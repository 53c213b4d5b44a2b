#!/usr/bin/env bash
# Arithmetic for pupils: tables, factors, and a check of a guess.
for n in 3 7; do
  for ((k = 1; k <= 5; k++)); do printf '%4d' $((n * k)); done
  echo
done
factors() { local n=$1 d=2; while ((n > 1)); do while ((n % d == 0)); do printf '%d ' "$d"; ((n /= d)); done; ((d++)); done; echo; }
factors 360
factors 97
echo $((2 ** 20)) $((0xff)) $((8#17)) $((7 / 2)) $((-7 % 3))
guess=42; secret=57
if ((guess < secret)); then echo "higher"; elif ((guess > secret)); then echo "lower"; else echo "right"; fi
