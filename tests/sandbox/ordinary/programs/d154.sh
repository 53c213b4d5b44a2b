#!/usr/bin/env bash
cp_with_progress() { local n=0; for f in "$@"; do cp "$f" dest/; ((++n)); printf '\r%d/%d' "$n" $#; done; echo; }
mkdir dest && touch f1 f2 f3
cp_with_progress f1 f2 f3 | tr '\r' '\n' | tail -1
cp -a dest dest2 && mv -n dest2 dest/inner && find dest -type f | wc -l
install -m 640 f1 installed && stat -c %a installed
basename /a/b/c.txt .txt; dirname /a/b/c.txt; realpath -m --relative-to=/a/b /a/c/d
