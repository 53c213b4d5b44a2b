#!/usr/bin/env bash
# Wait for background jobs and collect their exit codes.
work() { sleep "0.0$1"; return "$2"; }
work 3 0 & first=$!
work 1 4 & second=$!
work 2 0 & third=$!
for pid in $first $second $third; do
  wait "$pid"
  echo "exit $?"
done
jobs -r | wc -l
