#!/usr/bin/env bash
trap 'echo "caught TERM"; exit 0' TERM
trap 'echo "error on line with status $?"' ERR
false
( kill -TERM $$ )
sleep 5
echo "not reached"
