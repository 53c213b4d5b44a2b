#!/usr/bin/env bash
find_todo() { grep -rnoE --include='*.py' 'TODO\(?[a-z]*\)?' "$1" | sort; }
mkdir -p src/api src/web
echo 'x = 1  # TODO(ann)' > src/api/a.py
printf 'def f():\n    pass  # TODO\n' > src/web/b.py
echo 'TODO' > src/readme.md
find_todo src
find src -name '*.py' -newer src/readme.md | wc -l
find src -type f -size -100c -exec basename {} \; | sort | tr '\n' ' '
echo
find src -type d -empty -o -type f -name '*.md' -print
