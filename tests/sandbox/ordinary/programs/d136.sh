#!/usr/bin/env bash
split_and_join() {
  seq 1 100 > numbers
  split -l 30 -d numbers part-
  wc -l part-* | awk '{ print $2, $1 }'
  cat part-* | cmp - numbers && echo "joined"
}
split_and_join
head -c 10 numbers | xxd -p 2> /dev/null || echo "no xxd"
dd if=numbers of=copy bs=16 count=2 2> /dev/null && stat -c %s copy
truncate -s 100 copy && stat -c %s copy
