#!/usr/bin/env bash
declare -A stock=([tea]=3 [cup]=0)
for item in tea cup pot; do
  if [[ ! -v stock[$item] ]]; then echo "$item: unknown"
  elif ((stock[$item])); then echo "$item: ${stock[$item]}"
  else echo "$item: sold out"; fi
done
echo "${#stock[@]}"
