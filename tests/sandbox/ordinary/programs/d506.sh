#!/usr/bin/env bash
git init -q -b main lib && cd lib || exit 1
git config user.name Dev && git config user.email dev@example.com
printf '*.log\nbuild/\n' > .gitignore
mkdir build && touch build/out debug.log main.c
git status --porcelain
git add -A && git commit -qm "Start"
git mv main.c app.c && git commit -qm "Rename"
git log --follow --format=%s app.c
echo 'int x;' > app.c && git diff --numstat
git checkout -q -- app.c && git status --short | wc -l
git cat-file -t HEAD && git ls-tree --name-only HEAD
git revert --no-edit HEAD > /dev/null && ls
