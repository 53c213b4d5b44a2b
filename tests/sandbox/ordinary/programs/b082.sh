#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
git init -q -b main .
git config user.name "Branch Tester"
git config user.email branch@example.com
printf 'red\ngreen\nblue\n' > colours
git add . && git commit -q -m "colours"
git checkout -q -b warm
sed -i 's/green/orange/' colours
git commit -q -am "warm colours"
git checkout -q main
sed -i 's/green/teal/' colours
git commit -q -am "cold colours"
if ! git merge -q warm > /dev/null 2>&1; then
  echo "conflict in: $(git diff --name-only --diff-filter=U)"
  printf 'red\norange\nteal\nblue\n' > colours
  git add colours
  git commit -q -m "merge warm"
fi
git log --graph --format=%s | sed 's/ *$//'
cat colours
git branch -d warm > /dev/null && git branch --list
