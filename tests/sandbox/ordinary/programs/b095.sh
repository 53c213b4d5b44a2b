#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p a/b/c empty
touch a/one.txt a/b/two.TXT a/b/c/three.md
head -c 5000 /dev/zero > a/b/big.bin
chmod 700 a/one.txt
ln -s a/one.txt link
find . -type f | sort
echo "txt: $(find . -iname '*.txt' | wc -l)"
echo "big: $(find . -size +4k -type f)"
echo "empty dirs: $(find . -type d -empty)"
echo "links: $(find . -type l)"
echo "exec: $(find . -type f -perm -u+x)"
find . -maxdepth 2 -mindepth 2 -printf '%P %y\n' | sort
find . -name '*.md' -exec sh -c 'echo "handled ${1##*/}"' _ {} \;
touch -d '2020-01-01' old.txt
find . -name '*.txt' ! -newermt '2021-01-01' -delete -print
