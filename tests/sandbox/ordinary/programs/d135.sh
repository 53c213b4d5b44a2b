#!/usr/bin/env bash
timeout 0.2 sleep 5
echo "timeout gives $?"
timeout 5 echo "quick"
( sleep 30 ) &
pid=$!
kill "$pid"
wait "$pid" 2> /dev/null
echo "killed with $?"
