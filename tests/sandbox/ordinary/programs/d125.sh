#!/usr/bin/env bash
mkfifo requests
( while read -r line; do echo "handled $line"; done < requests ) &
printf '%s\n' alpha beta gamma > requests
wait
rm requests
ls | wc -l
