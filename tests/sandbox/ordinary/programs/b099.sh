#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
seq 1 10 | xargs -n 4 echo batch
echo 'a b c' | tr ' ' '\n' | xargs -I{} echo "item {}"
touch 'with space.txt' plain.txt $'tab\there.txt'
find . -name '*.txt' -print0 | sort -z | xargs -0 -n1 basename | tr '\t' '_'
seq 1 6 | xargs -P 2 -I{} sh -c 'echo $(( {} * {} )) > sq.{}'
cat sq.* | sort -n | xargs echo
printf '' | xargs -r echo "never printed"
echo "one two" | xargs sh -c 'echo "$# args, last $2"' sh
if ! printf '0\n1\n' | xargs -n1 sh -c 'exit $0' ; then echo "some job failed"; fi
