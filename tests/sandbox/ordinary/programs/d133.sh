#!/usr/bin/env bash
umask 027
touch secret.txt && mkdir private
stat -c '%a %n' secret.txt private
chmod u+x,g-r secret.txt
stat -c '%A' secret.txt
ln -s secret.txt link && readlink link
ln secret.txt hard && stat -c %h secret.txt
[ -L link ] && [ ! -d link ] && [ secret.txt -ef hard ] && echo "linked"
rm -r private link hard && ls
