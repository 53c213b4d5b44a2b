#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
umask 022
echo one > a
ln a b
ln -s a c
stat -c '%n %h %F %s' a b c
chmod u=rw,g=r,o= a
stat -c '%a %A' b
echo two > new
cp --backup=numbered new a
ls | xargs
cat b 'a.~1~'
mv -n new a && [ -e new ] && echo "not overwritten"
readlink c
[ a -ef b ] && echo "still the same file" || echo "a and b are different"
install -D -m 755 new deep/er/tool && stat -c %a deep/er/tool
truncate -s 1M sparse && stat -c %s sparse
touch -d '2001-02-03 04:05:06 UTC' a && TZ=UTC date -r a +%F
cp -p a keep && [ ! keep -nt a ] && echo "time kept"
