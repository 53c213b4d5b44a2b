#!/usr/bin/env bash
hex() { printf '%s' "$1" | od -An -tx1 | tr -d ' \n'; echo; }
hex "Hi!"
printf '\x48\x69\n'
printf '%d %o %x\n' "'A" 64 255
echo $((2#1011)) $((16#ff))
