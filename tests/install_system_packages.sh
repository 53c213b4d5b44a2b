#!/bin/sh
# Installs the Debian packages a list names, where their programs or files are missing: `sh … LIST`.
set -eu

missing=
while read -r package program; do
	case $package in '' | '#'*) continue ;; esac
	command -v "$program" >/dev/null 2>&1 || [ -e "$program" ] || missing="$missing $package"
done <"$1"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "The tests need:$missing. Install them (as root: apt-get install$missing) and run this again." >&2
	exit 1
fi
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
