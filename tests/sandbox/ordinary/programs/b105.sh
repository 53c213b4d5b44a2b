#!/usr/bin/env bash
set -u
fruits=(pear apple "passion fruit" fig)
fruits+=(kiwi)
echo "${#fruits[@]} fruits, third is '${fruits[2]}', last is ${fruits[-1]}"
unset 'fruits[1]'
echo "indices: ${!fruits[*]}"
printf '[%s]' "${fruits[@]}"; echo
echo "slice: ${fruits[@]:2:2}"
echo "capital: ${fruits[*]^}"
declare -A stock=([nut]=12 [bolt]=7 [screw]=40)
stock[washer]=3
((stock[bolt] += 5))
for key in $(printf '%s\n' "${!stock[@]}" | sort); do
  printf '%-7s%3d\n' "$key" "${stock[$key]}"
done
[[ -v stock[nut] ]] && echo "nuts in stock"
[[ -v stock[gear] ]] || echo "no gears"
mapfile -t sorted < <(printf '%s\n' "${fruits[@]}" | sort)
(IFS='|'; echo "${sorted[*]}")
IFS=: read -ra parts <<< "a:b::d"
echo "${#parts[@]} parts"
