#!/usr/bin/env bash
# Replace settings in many files, with a copy of the old ones.
for n in 1 2 3; do printf 'timeout=30\nname=host%d\n' "$n" > "host$n.conf"; done
sed -i.bak 's/^timeout=.*/timeout=60/' host*.conf
grep -h timeout host*.conf | uniq -c | awk '{ print $1, $2 }'
diff host1.conf.bak host1.conf | grep '^[<>]'
for f in *.bak; do mv "$f" "${f%.bak}"; done
md5sum host1.conf | cut -c1-8
ls
