#!/usr/bin/env bash
echo "a-b-c" | tr - '\n' | tac | paste -sd-
printf '%s\n' one two | awk '{ print toupper(substr($0, 1, 1)) substr($0, 2) }'
awk 'BEGIN { for (i = 1; i <= 5; i++) printf "%d%s", i * i, i < 5 ? "," : "\n" }'
awk -v name=Ann 'BEGIN { print "hi " name, length(name), index(name, "n") }'
