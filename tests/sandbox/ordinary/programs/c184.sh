git init -q -b main r; cd r; git config user.email a@b; git config user.name n
for i in 1 2 3 4; do echo $i > f; git add f; git commit -qm "c$i"; done
git rebase -q HEAD~2; git cherry-pick --allow-empty HEAD >/dev/null 2>&1; git reset -q --hard HEAD~1; cat f
git worktree add -q ../w HEAD~1; cat ../w/f; git gc -q; git fsck 2>/dev/null; git archive HEAD | tar t
