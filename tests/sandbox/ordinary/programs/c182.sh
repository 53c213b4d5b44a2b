git init -q r && cd r && git config user.email a@b && git config user.name n
echo x > f; git add f; git commit -qm c1
echo y > f; git stash -q; cat f; git stash pop -q; cat f
git checkout -q -- f; git tag v1; git describe --tags
git blame f | cut -d')' -f2
