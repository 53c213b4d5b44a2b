#!/usr/bin/env bash
echo '{"users": [{"name": "ann", "admin": true}, {"name": "bob", "admin": false}]}' > users.json
jq -r '.users[] | select(.admin) | .name' users.json
jq '.users | length' users.json
jq -c '.users |= map(.name |= ascii_upcase)' users.json
