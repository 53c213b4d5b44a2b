#!/usr/bin/env bash
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
printf '%s\n' \
  'MODE ?= debug' \
  'ifeq ($(MODE),release)' \
  'FLAGS := -O2' \
  'else' \
  'FLAGS := -g' \
  'endif' \
  'show:' \
  '	@echo "mode $(MODE) flags $(FLAGS)"' \
  'fail:' \
  '	@exit 3' \
  'chain: show' \
  '	touch done' > Makefile
make -s show
make -s show MODE=release
MODE=env make -s show
make -s -n chain MODE=release
make -s fail > /dev/null 2>&1
echo "failing target gave $?"
make -q -s chain > /dev/null 2>&1 || echo "chain needs work"
