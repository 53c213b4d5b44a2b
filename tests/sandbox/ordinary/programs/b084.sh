#!/usr/bin/env bash
set -euo pipefail
base=$(mktemp -d)
trap 'rm -rf "$base"' EXIT
cd "$base"
git init -q --bare -b main hub.git
for who in alice bob; do
  git clone -q hub.git "$who" 2> /dev/null
  git -C "$who" config user.name "$who"
  git -C "$who" config user.email "$who@example.com"
done
echo "hello" > alice/hello.txt
git -C alice add .
git -C alice commit -q -m "hello from alice"
git -C alice push -q origin HEAD:main
git -C bob pull -q origin main
echo "hi back" >> bob/hello.txt
git -C bob commit -q -am "reply from bob"
git -C bob push -q origin HEAD:main
git -C alice pull -q origin main
git -C alice log --format='%an: %s'
cat alice/hello.txt
git -C hub.git for-each-ref --format='%(refname)'
