#!/usr/bin/env bash
psql --version > /dev/null 2>&1 && echo "client is there"
psql -h 127.0.0.1 -p 1 -U nobody -c 'select 1' > out 2>&1 || echo "no server"
grep -ciE 'refused|failed|error' out | awk '{ print ($1 > 0) }'
