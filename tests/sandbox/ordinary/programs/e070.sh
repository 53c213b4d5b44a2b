#!/usr/bin/env bash
bytes=$(printf 'h\xc3\xa9llo' | wc -c)
echo "$bytes"
printf 'tab\there\n' | cat -A
printf 'b\r\na\r\n' | tr -d '\r' | sort
od -An -c <<< hi | xargs
