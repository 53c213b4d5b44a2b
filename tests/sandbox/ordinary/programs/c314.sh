git init -q r; cd r; git config user.email a@b; git config user.name n
mkdir sub; echo 1 > sub/x; git add .; git commit -qm x; git mv sub/x y; git status -s; git commit -qm mv; git log --follow --format=%s y; git show --stat --format= HEAD; git ls-tree HEAD | cut -d' ' -f2; git cat-file -p HEAD:y
