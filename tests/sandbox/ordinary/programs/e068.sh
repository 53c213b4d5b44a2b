#!/usr/bin/env bash
touch -d 2024-01-01 old && touch -d 2024-06-01 new
[[ new -nt old ]] && echo "new is newer"
ls -t | head -1
find . -name 'o*' -newermt 2023-12-31 | sed 's#./##'
test -r old -a -w old && echo "both"
