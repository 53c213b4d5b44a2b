#!/usr/bin/env bash
set -u
work=$(mktemp -d)
cleanup() {
  local code=$?
  echo "cleaning up after exit code $code"
  rm -rf "$work"
  [ -e "$work" ] || echo "work directory is gone"
}
trap cleanup EXIT
trap 'echo "error trapped on a failing command"' ERR
tmp=$(mktemp "$work/data.XXXXXX")
case "$tmp" in "$work"/data.??????) echo "template respected" ;; esac
echo payload > "$tmp"
false
(
  trap 'echo "subshell leaves"' EXIT
  echo "in subshell: $(cat "$tmp")"
)
trap 'echo "got USR1"' USR1
kill -USR1 $$
trap - ERR
false
echo "stat mode $(stat -c %a "$tmp")"
