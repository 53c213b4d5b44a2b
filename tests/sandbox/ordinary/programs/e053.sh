#!/usr/bin/env bash
text="The Quick Brown Fox"
echo "${text,,}"
echo "$text" | tr -cd '[:upper:]\n'
echo "$text" | awk '{ for (i = NF; i; i--) printf "%s%s", $i, i > 1 ? " " : "\n" }'
echo "${text// /_}" | cut -d_ -f2-
