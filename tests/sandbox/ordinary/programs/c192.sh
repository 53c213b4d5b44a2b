printf '{"a":1}\n{"a":2}\n' | jq -s 'map(.a) | {sum: add, max: max}'; jq -n --arg x hi '{msg: $x, n: (1+2)}' -c; echo '[3,1,2]' | jq -c sort; echo '{}' | jq -e .x || echo none
