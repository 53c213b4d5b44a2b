#!/usr/bin/env bash
set -euo pipefail
orders='[
 {"id":1,"who":"ann","total":20.5,"tags":["new"]},
 {"id":2,"who":"bob","total":7,"tags":[]},
 {"id":3,"who":"ann","total":9.25,"tags":["gift","rush"]},
 {"id":4,"who":"cat","total":100,"tags":["rush"]}
]'
jq -c 'group_by(.who) | map({who: .[0].who, n: length, sum: (map(.total) | add)})' <<< "$orders"
jq -r '.[] | select(.tags | index("rush")) | "\(.id)\t\(.who)"' <<< "$orders"
jq -r '[.[] | .tags[]] | unique | join(",")' <<< "$orders"
jq -r '(["id","who"] | @csv), (.[] | [.id, .who] | @csv)' <<< "$orders"
jq '[.[].total] | max' <<< "$orders"
jq -e 'any(.[]; .total > 1000)' <<< "$orders" > /dev/null || echo "no big order"
