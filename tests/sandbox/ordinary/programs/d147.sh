#!/usr/bin/env bash
curl -s --max-time 1 http://127.0.0.1:9/ > /dev/null
echo "curl gives $?"
echo '{"a": 1}' > body.json
curl -s "file://$PWD/body.json" | jq -c .
curl -s -o copy.json -w '%{size_download}\n' "file://$PWD/body.json"
