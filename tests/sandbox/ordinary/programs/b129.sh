#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
git init -q -b main
git config user.name Hook
git config user.email hook@example.com
mkdir -p .git/hooks
cat > .git/hooks/commit-msg <<'END'
#!/bin/sh
grep -qE '^(feat|fix): ' "$1" || { echo "message refused"; exit 1; }
END
chmod +x .git/hooks/commit-msg
mkdir src && echo 'print(1)' > src/one.py && echo 'secret' > notes
echo 'notes export-ignore' > .gitattributes
git add .
git commit -q -m 'some change' 2>&1 || echo "commit stopped"
git commit -q -m 'feat: first'
git archive --prefix=rel/ HEAD | tar -tf -
git hash-object src/one.py
git cat-file -p HEAD:src/one.py
git ls-tree -r --name-only HEAD
