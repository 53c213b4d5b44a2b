#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
ssh-keygen -q -t ed25519 -N '' -C signer -f key
echo "release 1.0" > release.txt
ssh-keygen -Y sign -q -f key -n file release.txt 2> /dev/null
head -n 1 release.txt.sig
echo "dev@example.com $(cut -d' ' -f1,2 key.pub)" > allowed
if ssh-keygen -Y verify -f allowed -I dev@example.com -n file -s release.txt.sig < release.txt > /dev/null 2>&1; then
  echo "signature good"
fi
echo "tampered" >> release.txt
if ! ssh-keygen -Y verify -f allowed -I dev@example.com -n file -s release.txt.sig < release.txt > /dev/null 2>&1; then
  echo "tampering noticed"
fi
ssh-keygen -q -p -P '' -N 'passphrase' -f key > /dev/null
ssh-keygen -y -P wrong -f key > /dev/null 2>&1 || echo "wrong passphrase refused"
