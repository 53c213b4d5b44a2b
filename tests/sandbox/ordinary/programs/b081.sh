#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
g() { git -c user.name=Dev -c user.email=dev@example.com "$@"; }
g init -q -b main
for n in 1 2 3; do
  echo "line $n" >> notes.txt
  g add notes.txt
  g commit -q -m "Add line $n"
done
g log --format='%s <%ae>'
g diff HEAD~1 -- notes.txt | tail -n +3
g rev-list --count HEAD
