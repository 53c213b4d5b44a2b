#!/usr/bin/env bash
mkdir -p inbox/{a,b} && touch inbox/a/{1..3}.txt inbox/b/4.md
for kind in txt md; do printf '%s: %d\n' "$kind" "$(find inbox -name "*.$kind" | wc -l)"; done
rm -r inbox/a && find inbox -type f
