#!/usr/bin/env bash
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
for n in 1 2 3; do printf 'file number %d\n' "$n" > "f$n.txt"; done
sha256sum f*.txt > SUMS
cut -c1-16 SUMS
sha256sum -c SUMS
echo "changed" >> f2.txt
sha256sum -c --quiet SUMS 2> /dev/null
echo "check status $?"
md5sum f1.txt
cksum f1.txt
printf 'abc' | sha1sum | cut -d' ' -f1
printf 'hello' | base64
printf 'aGVsbG8=' | base64 -d; echo
printf 'Az' | od -An -tx1 | tr -d ' '
