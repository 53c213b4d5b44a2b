#!/usr/bin/env bash
set -eu
text='Simple tools can be joined into useful pipelines'
echo "$text" | tr 'a-zA-Z' 'n-za-mN-ZA-M'
echo "$text" | tr -cs 'A-Za-z' '\n' | nl -w2 -s'. '
echo "$text" | fold -s -w 20 | sed 's/ *$//'
echo "$text" | rev
echo "$text" | tr -d 'aeiou'
echo "$text" | grep -o . | sort | uniq -c | sort -k1,1nr -k2 | head -n 3 | awk '{ print $1 "x" $2 }'
printf 'name;age\nann;31\nbob;7\n' | column -t -s';' | sed 's/ *$//'
seq 1 9 | paste - - - | tr '\t' ' '
printf 'a\tb\n' | expand -t4
seq 3 | tac | xargs
echo "$text" | wc -w | tr -d ' '
echo "$text" | cut -c1-6,8-12
