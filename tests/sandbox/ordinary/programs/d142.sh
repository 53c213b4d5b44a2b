#!/usr/bin/env bash
# Patch a file and take the patch back.
printf 'one\ntwo\nthree\n' > a.txt
sed 's/two/TWO/' a.txt > b.txt
diff -u --label a --label b a.txt b.txt > change.patch
patch -s a.txt < change.patch && sed -n 2p a.txt
patch -s -R a.txt < change.patch && sed -n 2p a.txt
grep -c '^[-+]' change.patch
