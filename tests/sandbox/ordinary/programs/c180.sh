git init -q repo && cd repo
git config user.email dev@example.org && git config user.name Dev
echo one > a.txt && git add . && git commit -qm "first"
echo two >> a.txt && git commit -qam "second"
git log --format=%s
git diff HEAD~1 --stat
