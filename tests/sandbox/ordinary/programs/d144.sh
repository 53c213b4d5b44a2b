#!/usr/bin/env bash
git init -q -b main notes && cd notes || exit 1
git config user.name Ann && git config user.email ann@example.com
for day in mon tue wed; do
  echo "$day" > today
  git add today
  GIT_AUTHOR_DATE="2024-01-01T10:00:00Z" GIT_COMMITTER_DATE="2024-01-01T10:00:00Z" git commit -qm "Write $day"
done
git tag -a v1 -m "first" HEAD~1
git describe --tags | sed 's/-g.*//'
git rev-list --count HEAD
git show v1:today
git stash list | wc -l
echo draft > today && git stash -q && cat today && git stash pop -q && cat today
git blame -s --porcelain today | grep -c '^author Not'
