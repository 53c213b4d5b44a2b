#!/usr/bin/env bash
set -euo pipefail
py() { python3 -c "$@"; }
py 'print(sum(range(101)))'
echo '{"b": 1, "a": [1, 2]}' | python3 -m json.tool --sort-keys --indent 2
total=$(printf '%s\n' 3 4 5 | py 'import sys; print(sum(int(l) ** 2 for l in sys.stdin))')
echo "total $total"
python3 - one two <<'END'
import sys
print(sys.argv[1:], len(sys.argv))
END
py 'import sys; sys.exit(4)' || echo "python exit code $?"
NAME=value py 'import os; print(os.environ["NAME"])'
python3 -m calendar 2024 2 | sed 's/ *$//'
