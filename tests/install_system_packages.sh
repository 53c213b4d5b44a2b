#!/bin/sh
# Installs the Debian packages a list names, where a program or file of theirs is missing: `sh … LIST`.
set -eu

missing=
while read -r package names; do
	case $package in '' | '#'*) continue ;; esac
	for name in $names; do
		command -v "$name" >/dev/null 2>&1 || [ -e "$name" ] || { missing="$missing $package" && break; }
	done
done <"$1"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
	echo "The tests need:$missing. Install them (as root: apt-get install$missing) and run this again." >&2
	exit 1
fi
apt-get update -qq
# shellcheck disable=SC2086 # a list of words
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
