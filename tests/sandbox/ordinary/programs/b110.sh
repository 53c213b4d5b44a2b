#!/usr/bin/env bash
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
job() { sleep "0.0$1"; echo "job $1 wrote this" > "$dir/$1"; return "$2"; }
declare -A pids
i=0
for code in 0 3 0 5; do
  i=$((i + 1))
  job "$i" "$code" &
  pids[$i]=$!
done
for n in 1 2 3 4; do
  wait "${pids[$n]}"
  echo "job $n ended with $?"
done
cat "$dir"/*
timeout 0.1 sleep 5
echo "timeout gives $?"
( sleep 0.05; exit 9 ) &
wait -n
echo "wait -n gives $?"
