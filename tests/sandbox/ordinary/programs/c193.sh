echo 'not json' | jq . 2>/dev/null || echo "parse error"; jq -n 'env | has("PATH")'; jq -n '[limit(3; range(10))]' -c; jq -rn '"2024-01-02T03:04:05Z" | fromdate'; jq -n 'input' <<< '"x"'
