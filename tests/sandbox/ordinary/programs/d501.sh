#!/usr/bin/env bash
# Which users have a shell? From a copy of a passwd file.
cat > passwd.copy <<'END'
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
ann:x:1000:1000:Ann:/home/ann:/bin/zsh
END
awk -F: '$7 !~ /nologin|false/ { printf "%-8s %s\n", $1, $7 }' passwd.copy
cut -d: -f3 passwd.copy | sort -n | tail -1
sed 's/:x:/:*:/' passwd.copy | head -1
