#!/usr/bin/env bash
set -u
beats=$(mktemp)
heartbeat() { while :; do echo beat >> "$beats"; sleep 0.05; done; }
heartbeat &
hb=$!
trap 'kill "$hb" 2> /dev/null; wait "$hb" 2> /dev/null; rm -f "$beats"' EXIT
sum=0
for n in {1..200}; do ((sum += n * n)); done
echo "sum of squares $sum"
for _ in {1..100}; do [ -s "$beats" ] && break; sleep 0.05; done
[ -s "$beats" ] && echo "heart was beating"
kill -0 "$hb" && echo "heartbeat still running"
echo "leaving"
