#!/usr/bin/env bash
git init -q -b main conflict && cd conflict || exit 1
git config user.name Dev && git config user.email dev@example.com
echo "color: red" > style && git add style && git commit -qm one
git checkout -qb blue && echo "color: blue" > style && git commit -qam two
git checkout -q main && echo "color: green" > style && git commit -qam three
git merge -q blue > /dev/null 2>&1 || echo "conflict in $(git diff --name-only --diff-filter=U)"
grep -c '^[<=>]\{7\}' style
git checkout -q --theirs style && git add style && git commit -qm merged
cat style
git log --oneline | wc -l
