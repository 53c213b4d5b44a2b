#!/usr/bin/env bash
shopt -s nullglob globstar extglob
mkdir -p a/b/c
touch a/x.txt a/b/y.txt a/b/c/z.md
printf '%s\n' **/*.txt
echo "none:" *.zip
echo a/b/!(c)
for f in a/**/*.@(md|txt); do echo "${f##*.}"; done | sort | uniq -c | awk '{ print $2, $1 }'
