#!/usr/bin/env bash
printf '%s\n' 5 3 9 1 | sort -n | xargs
seq 1 20 | paste -d, - - - - -
printf 'b 2\na 1\nc 3\n' | sort -k2,2nr | column -t 2> /dev/null || echo "no column"
echo "the cat sat on the mat" | tr ' ' '\n' | sort | uniq -c | sort -k1,1nr -k2 | head -2 | awk '{ print $1, $2 }'
echo "2024-03-05" | sed -E 's/([0-9]+)-([0-9]+)-([0-9]+)/\3.\2.\1/'
comm -12 <(printf 'a\nb\nc\n') <(printf 'b\nc\nd\n')
printf 'x\ty\n1\t2\n' | expand -t 6
fold -w 10 <<< "abcdefghijklmnopqrstuvwxyz"
nl -ba <<< $'one\ntwo'
