#!/usr/bin/env bash
# Read a list of hosts and print the ones in each group.
declare -A groups
while IFS=, read -r host group; do
  [[ -z $host || $host == \#* ]] && continue
  groups[$group]+="$host "
done <<'END'
# host,group
web1,front
web2,front
db1,back

cache1,back
END
for group in $(printf '%s\n' "${!groups[@]}" | sort); do
  printf '%-8s %s\n' "$group" "${groups[$group]% }"
done
