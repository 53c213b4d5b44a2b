#!/usr/bin/env bash
git init -q --bare origin.git
git clone -q origin.git work 2> /dev/null && cd work || exit 1
git config user.name Dev && git config user.email dev@example.com
git checkout -qb main && echo 1 > a && git add a && git commit -qm one && git push -q -u origin main
git clone -q -b main ../origin.git ../other && echo 2 >> ../other/a
git -C ../other -c user.name=O -c user.email=o@example.com commit -qam two && git -C ../other push -q
git pull -q --ff-only && cat a
git remote -v | awk '{ print $1, $3 }' && git branch -r | xargs
git bisect start HEAD HEAD~1 > /dev/null && git bisect reset > /dev/null 2>&1
git shortlog -sn HEAD | awk '{ $1 = $1; print }'
