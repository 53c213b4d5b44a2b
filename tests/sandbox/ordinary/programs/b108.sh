#!/usr/bin/env bash
set -u
cpus=$(nproc)
((cpus >= 1)) && echo "at least one processor"
free_kb=$(awk '/^MemAvailable/ { print $2 }' /proc/meminfo)
((free_kb > 0)) && echo "some memory available"
use=$(df -P . | awk 'NR == 2 { sub("%", "", $5); print $5 }')
((use >= 0 && use <= 100)) && echo "disk use between 0 and 100 percent"
ulimit -a > /dev/null && echo "limits read"
[ "$(ulimit -n)" != 0 ] && echo "files may be opened"
procs=0
for p in /proc/[0-9]*; do procs=$((procs + 1)); done
((procs > 1)) && echo "several processes"
type -P ls > /dev/null && echo "ls found"
env | sort > /dev/null && echo "environment sorted"
hostname > /dev/null 2>&1 || uname -n > /dev/null
echo "host asked"
[ "$(uname -s)" = Linux ] && echo "this is Linux"
du -sh . > /dev/null 2>&1; echo "du done"
mount > /dev/null 2>&1 || cat /proc/mounts > /dev/null; echo "mounts read"
