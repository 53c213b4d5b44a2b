echo '{"items":[{"n":"pen","p":2},{"n":"ink","p":5}]}' > i.json
jq -r '.items[] | select(.p > 3) | .n' i.json; jq '[.items[].p] | add' i.json; jq -c 'del(.items[0])' i.json; jq -r '.items[] | [.n, .p] | @csv' i.json
