#!/usr/bin/env bash
set -e
git init -q -b main shop
cd shop
git config user.name Dev
git config user.email dev@example.com
printf 'tea\ncoffee\n' > menu.txt
git add . && git commit -qm "Add menu"
git checkout -qb prices
sed -i 's/$/ 2.50/' menu.txt
git commit -qam "Add prices"
git checkout -q main
git merge -q --no-ff -m "Merge prices" prices
git log --format='%s' --graph | sed 's/ *$//'
git show --stat --format= HEAD~1 | head -1
git branch --merged | tr -d ' *' | sort | xargs
cat menu.txt
