#!/usr/bin/env bash
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir -p src docs
printf 'import os\n# TODO: tidy\ndef run():\n    return os.getcwd()\n' > src/a.py
printf 'def stop():\n    pass  # todo later\n' > src/b.py
printf 'Run it.\nStop it.\nError 404\nError 500\n' > docs/guide.md
grep -rn 'def ' src | sort
grep -rilE 'todo' . | sort
grep -c 'Error' docs/guide.md
grep -oE '[0-9]{3}' docs/guide.md
grep -A1 -n 'TODO' src/a.py
grep -v '^ ' src/b.py
grep -rL 'import' src
grep -q 'nothing like this' -r . || echo "no match gives $?"
grep -wi 'run' docs/guide.md
grep -rh --include='*.md' 'it\.' . | tr 'a-z' 'A-Z'
