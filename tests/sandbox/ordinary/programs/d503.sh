#!/usr/bin/env bash
# Deploy: releases in folders, a link to the current one, and a rollback.
for version in 1 2 3; do
  mkdir -p "releases/$version"
  echo "version $version" > "releases/$version/index.html"
  ln -sfn "releases/$version" current
done
cat current/index.html
previous=$(ls releases | sort -n | tail -2 | head -1)
ln -sfn "releases/$previous" current
cat current/index.html
ls releases | sort -nr | tail -n +3 | xargs -I{} rm -r "releases/{}"
ls releases
