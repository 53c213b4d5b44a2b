#!/usr/bin/env bash
set -euo pipefail
conf=$(mktemp)
trap 'rm -f "$conf"' EXIT
cat > "$conf" <<'END'
# main settings
host = old.example.com
port = 80

[paths]
root = /srv/old
cache=/srv/old/cache
END
sed -i -e 's/^port = .*/port = 8080/' -e 's|/srv/old|/srv/new|g' "$conf"
sed -i '/^host/a backup = backup.example.com' "$conf"
sed -E 's/^([a-z]+) *= */\1: /; /^#/d; /^$/d' "$conf"
echo "--- section"
sed -n '/^\[paths\]/,$p' "$conf"
echo "--- numbered"
sed -n '/=/{=;p}' "$conf" | sed 'N; s/\n/ /'
echo "--- doubled words"
echo "this is is a a test" | sed -E 's/\b(\w+) \1\b/\1/g'
printf 'a\nb\nc\n' | sed '1!G;h;$!d' | tr '\n' ' '; echo
