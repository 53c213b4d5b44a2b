#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p site/css site/tmp
echo '<h1>hi</h1>' > site/index.html
echo 'h1 {}' > site/css/main.css
echo 'junk' > site/tmp/junk
tar --exclude='site/tmp' --sort=name --mtime='2020-01-01 UTC' --owner=0 --group=0 --numeric-owner -czf site.tgz site
tar -tzf site.tgz
mkdir out
tar -xzf site.tgz -C out --strip-components=1
find out -type f | sort
tar -xzOf site.tgz site/index.html
tar -cf - site/css | (cd out && tar -xf - && ls)
diff -r site out > /dev/null || echo "trees differ as expected"
tar --sort=name --mtime='2020-01-01 UTC' --owner=0 --group=0 -cf x.tar site/css
tar --sort=name --mtime='2020-01-01 UTC' --owner=0 --group=0 -cf y.tar site/css
cmp x.tar y.tar && echo "reproducible"
