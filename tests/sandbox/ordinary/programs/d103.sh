#!/usr/bin/env bash
# A backup with a manifest, then a restore that is checked.
set -eu
mkdir -p site/img && echo '<h1>hi</h1>' > site/index.html && head -c 2000 /dev/zero > site/img/a.png
tar --sort=name --mtime=@0 --owner=1 --group=1 --numeric-owner -czf backup.tar.gz site
(cd site && find . -type f -print0 | sort -z | xargs -0 sha256sum) > manifest
mv site old
tar -xzf backup.tar.gz
(cd site && sha256sum -c ../manifest)
diff -r old site && echo "restored"
