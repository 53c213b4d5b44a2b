#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
git init -q -b main
i=0
for who in kim lee kim max lee kim; do
  i=$((i + 1))
  seq "$i" > "file$i"
  git add .
  git -c user.name="$who" -c user.email="$who@x.example" commit -q -m "change $i"
done
git log --numstat --format='A %an' |
  awk '$1 == "A" { who = $2; n[who]++ } NF == 3 && $1 != "A" { add[who] += $1 }
       END { for (w in n) printf "%-5s commits=%d added=%d\n", w, n[w], add[w] }' | sort
git -c user.name=kim -c user.email=k@x.example commit -q --allow-empty --amend -m 'last change'
git shortlog -sn HEAD | sed 's/^ *//' | sort -k1,1nr -k2
git log -1 --format=%s
