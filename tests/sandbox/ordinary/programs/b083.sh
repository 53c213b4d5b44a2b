#!/usr/bin/env bash
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GIT_AUTHOR_NAME=Ann GIT_AUTHOR_EMAIL=ann@example.com
export GIT_COMMITTER_NAME=Ann GIT_COMMITTER_EMAIL=ann@example.com
export GIT_AUTHOR_DATE='2022-01-01T12:00:00Z' GIT_COMMITTER_DATE='2022-01-01T12:00:00Z'
git init -q -b trunk
echo 'v=1' > conf && git add conf && git commit -q -m 'first'
git tag -a v1 -m 'version one'
echo 'w=2' >> conf && git commit -q -am 'second'
git tag v2
echo 'dirty' >> conf
git stash -q
echo "stashes: $(git stash list | wc -l)"
git revert --no-edit HEAD > /dev/null
git log --format='%h %s %ad' --date=short
git stash drop -q
git describe --tags --abbrev=0
git blame -s conf | sed 's/^[^)]*) //'
git show v1 --no-patch --format='%s'  | head -n 4
