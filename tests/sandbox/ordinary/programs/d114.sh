#!/usr/bin/env bash
set -u
tmp=$(mktemp -d)
cleanup() {
  rm -rf "$tmp"
  echo "cleaned"
}
trap cleanup EXIT
cp /etc/hostname "$tmp/" 2> /dev/null || echo "fallback" > "$tmp/hostname"
[[ -s $tmp/hostname ]] && echo "has a name"
echo "${UNSET_VARIABLE:-default} ${tmp:0:1} ${#tmp}" | awk '{ print $1, $2, ($3 > 5) }'
exit 0
