#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/repo"; cd "$dir/repo"
git init -q -b main
git config user.name Bisector; git config user.email b@example.com
for n in $(seq 1 8); do
  if [ "$n" -ge 6 ]; then echo broken > state; else echo "good $n" > state; fi
  echo "$n" > number
  git add . && git commit -q -m "commit $n"
done
git bisect start HEAD HEAD~7 > /dev/null 2>&1
git bisect run grep -q good state > bisect.out 2>&1
grep -c 'is the first bad commit' bisect.out
git show -s --format=%s refs/bisect/bad
git bisect reset > /dev/null 2>&1
rm bisect.out
git worktree add -q ../old HEAD~5 2> /dev/null
cat ../old/number
git worktree remove ../old
git checkout -q -b side HEAD~3
echo extra > extra; git add extra; git commit -q -m "extra"
git rebase -q main
git log --format=%s -2
