#!/usr/bin/env bash
jq -n --arg name ann --argjson age 30 '{name: $name, age: $age, adult: ($age >= 18)}' | tee user.json | jq -r .name
jq '.age += 1 | del(.adult)' user.json
echo '[3,1,2]' | jq -c 'sort, (map(. * 2) | add), (to_entries | map("\(.key)=\(.value)") | join("&"))'
printf '{"a":1}\n{"a":2}\n' | jq -s -c 'map(.a)'
jq -r '@csv "\([1, "x,y"])", ("hello" | ascii_upcase), (now > 0)' <<< null
echo '{"bad"' | jq . 2> /dev/null || echo "invalid: $?"
