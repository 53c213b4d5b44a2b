#!/usr/bin/env bash
ps -o pid= -p $$ > /dev/null 2>&1 && echo "runs"
sleep 2 & background=$!
kill -0 $background && echo "alive"
kill $background; wait $background 2> /dev/null
kill -0 $background 2> /dev/null || echo "gone"
nice -n 5 echo "nicely"
nohup echo "kept" 2> /dev/null
(sleep 0.05; echo "delayed") | cat
ulimit -n > /dev/null && echo "limits known"
