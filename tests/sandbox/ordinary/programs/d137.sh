#!/usr/bin/env bash
cat > app.env <<'END'
# settings
NAME="tea shop"
PORT=8080
DEBUG=
END
set -a
. ./app.env
set +a
bash -c 'echo "$NAME on $PORT ${DEBUG:-off}"'
env -i PATH="$PATH" ONLY=this env | grep ONLY
export -n PORT
bash -c 'echo "port ${PORT:-unset}"'
