#!/usr/bin/env bash
set -uo pipefail
false | true
echo "pipefail gives $?"
true | (exit 3) | cat
echo "statuses: ${PIPESTATUS[*]}"
x=1
(x=2; echo "inside $x")
echo "outside $x"
{ x=3; }
echo "braces $x"
if ! out=$(cat /no/such/file 2>&1); then echo "cat complained: ${out##*: }"; fi
bash -c 'echo "${undefined_thing?is missing}"' 2> /dev/null || echo "unset refused with $?"
bash -ec 'false; echo never' || echo "errexit stopped with $?"
set -- a "b c" d
echo "$# args: $* / ${2}"
shift 2
echo "left: $1"
echo "to stderr" 2>&1 1>&2 | cat > /dev/null
exec 3>&1
captured=$(echo "seen" >&3; echo "kept")
echo "captured $captured"
printf '%s\n' {a..c}{1..2} | xargs
