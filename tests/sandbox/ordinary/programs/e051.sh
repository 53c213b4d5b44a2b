#!/usr/bin/env bash
printf '%s\n' "milk 2" "eggs 12" "bread 1" > list
while read -r item count; do echo "$count of $item"; done < list
awk '{ n += $2 } END { print NR " kinds, " n " pieces" }' list
