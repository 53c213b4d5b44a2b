#!/usr/bin/env bash
args() { echo "$# args, first '$1', all: $*"; shift; echo "then $1"; }
args "a b" c d
set -- x y z
echo "$# ${*: -1}"
for arg; do printf '%s;' "$arg"; done; echo
