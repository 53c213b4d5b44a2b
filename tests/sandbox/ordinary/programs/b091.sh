#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
i=0
for name in red green blue; do
  i=$((i + 1))
  jq -n --arg name "$name" --argjson n "$i" '{($name): {rank: $n, length: ($name | length)}}' > "$name.json"
done
jq -s 'reduce .[] as $x ({}; . * $x)' red.json green.json blue.json > all.json
jq -c -S . all.json
jq -r 'to_entries | sort_by(-.value.rank)[] | "\(.key)=\(.value.length)"' all.json
jq -c 'paths(type == "number")' all.json | wc -l
jq '.red.rank += 10 | del(.blue, .green)' all.json
echo '{"a":[1,{"b":null}]}' | jq -c '[leaf_paths | map(tostring) | join(".")]'
if ! echo '{broken' | jq . > /dev/null 2>&1; then echo "broken input refused"; fi
