#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ssh-keygen -q -t ed25519 -N '' -C 'tester@example' -f id_test
ssh-keygen -q -t rsa -b 2048 -N '' -C 'rsa@example' -f id_rsa_test
ls
for k in id_test id_rsa_test; do
  ssh-keygen -l -f "$k.pub" | awk '{ print $1, $3, $4 }'
  awk '{ print $1, $3 }' "$k.pub"
  stat -c '%a' "$k"
done
ssh-keygen -y -f id_test | cut -d' ' -f1
cmp <(ssh-keygen -y -f id_test | cut -d' ' -f1,2) <(cut -d' ' -f1,2 id_test.pub) && echo "public halves agree"
