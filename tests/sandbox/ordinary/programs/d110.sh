#!/usr/bin/env bash
cat > orders.json <<'END'
[{"id": 1, "customer": "ann", "items": [{"sku": "tea", "qty": 2, "price": 3.5}]},
 {"id": 2, "customer": "bob", "items": [{"sku": "cup", "qty": 1, "price": 8}, {"sku": "tea", "qty": 1, "price": 3.5}]},
 {"id": 3, "customer": "ann", "items": []}]
END
jq -r '.[] | [.id, .customer, ([.items[] | .qty * .price] | add // 0)] | @tsv' orders.json
jq -c 'group_by(.customer) | map({customer: .[0].customer, orders: length})' orders.json
jq '[.[].items[].sku] | unique | length' orders.json
jq -e '.[] | select(.id == 9)' orders.json > /dev/null || echo "no order 9"
