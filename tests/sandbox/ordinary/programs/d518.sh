#!/usr/bin/env bash
# A test of a script, as in a pipeline of CI.
cat > deploy.sh <<'END'
#!/bin/sh
set -eu
: "${TARGET:?no target}"
echo "deploying to $TARGET"
END
chmod +x deploy.sh
./deploy.sh 2> err || echo "fails without a target"
grep -c 'no target' err
TARGET=staging ./deploy.sh
TARGET=prod sh -x ./deploy.sh 2> trace > /dev/null; grep -c '^+' trace
