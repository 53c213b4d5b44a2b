#!/usr/bin/env bash
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir old new
printf 'milk\neggs\nbread\n' > old/list
printf 'milk\nbutter\neggs\nrye bread\n' > new/list
echo 'added' > new/extra
diff -u --label a/list --label b/list old/list new/list > change.diff
cat change.diff
cp -r old work
git -C work apply -p1 --check ../change.diff && echo "applies"
(cd work && git apply -p1 ../change.diff)
cmp work/list new/list && echo "lists are equal now"
diff -rq work new
diff -y -W 30 old/list new/list | tr -s '\t ' ' '
grep -c '^+' change.diff
