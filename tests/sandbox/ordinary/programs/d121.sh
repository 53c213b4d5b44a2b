#!/usr/bin/env bash
date -u -d '2024-02-28 + 2 days' +%F
date -u -d @1700000000 '+%Y-%m-%dT%H:%M:%SZ'
TZ=America/New_York date -d @1700000000 '+%H:%M %Z'
days=$((($(date -u -d 2024-12-25 +%s) - $(date -u -d 2024-01-01 +%s)) / 86400))
echo "$days days"
[[ $(date +%Y) -ge 2024 ]] && echo "clock is set"
