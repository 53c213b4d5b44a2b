#!/usr/bin/env bash
set -o pipefail
false | true; echo "pipe $?"
true | false | true; echo "each ${PIPESTATUS[*]}"
(exit 7); echo "sub $?"
! true; echo "not $?"
{ echo out; echo err >&2; } 2> errors > output; cat output errors
exec 3< output; read -r line <&3; echo "read $line"; exec 3<&-
command -v no_such_command || echo "not found: $?"
no_such_command 2> /dev/null; echo "exit $?"
