#!/usr/bin/env bash
seq 1 1000 | awk '{ s += $1 } END { print s }'
seq -s, 1 2 9
seq 1 30 | shuf --random-source=<(yes) | sort -n | md5sum | cut -c1-6
printf '%s\n' {a..c}{1..2} | paste -sd' '
yes tea | head -3 | uniq -c | awk '{ print $1, $2 }'
factor 2024 97
expr 7 '*' 6; test 3 -lt 5 && echo less
tee a.txt b.txt <<< "twice" > /dev/null; cat a.txt b.txt
comm -3 <(seq 3) <(seq 2 4) | tr '\t' '>'
tsort <<< $'shirt tie\ntie jacket\ntrousers shoes\ntrousers jacket' | wc -l
