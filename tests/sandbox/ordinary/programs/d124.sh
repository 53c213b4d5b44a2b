#!/usr/bin/env bash
# A lock so that one copy runs at a time.
exec 9> job.lock
if flock -n 9; then echo "got the lock"; fi
( flock -n 8 && echo "second copy runs" || echo "another copy runs" ) 8> job.lock
flock -u 9
( flock -n 8 && echo "now it runs" ) 8> job.lock
