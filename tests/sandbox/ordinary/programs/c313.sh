git init -q r; cd r; git config user.email a@b; git config user.name n; git config alias.last 'log -1 --format=%s'
touch a; git add a; git commit -qm one; git last; git config --list --local | grep -c alias; git notes add -m note; git notes show; git format-patch -q -1 -o out; ls out; git rm -q a; git commit -qm gone; git revert --no-edit HEAD >/dev/null; ls
