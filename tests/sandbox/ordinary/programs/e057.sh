#!/usr/bin/env bash
set -eu
git init -q -b main . && git config user.email a@example.com && git config user.name A
for f in one two; do echo "$f" > "$f.txt"; git add . && git commit -qm "Add $f"; done
git log --format=%s
git diff --name-status HEAD~1
git show HEAD:one.txt
