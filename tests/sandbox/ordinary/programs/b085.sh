#!/usr/bin/env bash
set -e
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
git init -q -b main
git config user.email a@example.com; git config user.name A
cat > .gitignore <<'END'
*.log
build/
!keep.log
END
mkdir build src
touch build/out.o src/a.c src/b.c debug.log keep.log
git add .
git commit -q -m 'initial'
git ls-files
echo "--- ignored"
git ls-files --others --ignored --exclude-standard
echo 'int x;' > src/a.c
rm src/b.c
touch src/new.c
echo "--- status"
git status --porcelain
git check-ignore -v debug.log | cut -f1
git clean -fdxq
git checkout -q -- .
git status --porcelain | wc -l
