#!/usr/bin/env bash
jq -n '[range(5)] | {sum: add, max: max, even: map(select(. % 2 == 0))}' | jq -c .
echo '{"a": {"b": [10, 20]}}' | jq '.a.b[1], (.a | keys), (paths | length)' | jq -c .
echo 'k1 v1' | jq -R -c 'split(" ") | {(.[0]): .[1]}'
