#!/usr/bin/env bash
set -euo pipefail
deps() {
cat <<'END'
app: lib ui
ui: lib theme
theme: base
lib: base
END
}
echo "order:"
deps | awk -F': *' '{ n = split($2, d, " "); for (i = 1; i <= n; i++) print d[i], $1 }' | tsort
echo "direct needs:"
deps | sed -E 's/: */ needs /' | sort
echo "most wanted:"
deps | cut -d: -f2 | xargs -n1 | sort | uniq -c | sort -k1,1nr -k2 | awk '{ print $2, $1 }' | head -n 2
if ! printf 'a b\nb a\n' | tsort > /dev/null 2>&1; then echo "loop noticed"; fi
