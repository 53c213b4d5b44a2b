git init -q r; cd r; git config user.email a@b; git config user.name n
echo base > f; git add f; git commit -qm base; git switch -qc x; echo x > f; git commit -qam x
git switch -q -; echo y > f; git commit -qam y; git merge x >/dev/null 2>&1 || git status --short; git checkout -q --theirs f; cat f; git add f; git commit -qm merge; git log --oneline | wc -l
