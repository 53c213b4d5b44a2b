#!/usr/bin/env bash
seq 10 | awk 'NR % 2' | paste -sd,
seq 3 | xargs -I{} echo "item {}"
echo {1..3}{a,b} | fmt -w 9
printf '%05.2f|%-6s|%x\n' 3.14159 ab 255
