#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > Makefile <<'END'
PARTS := $(foreach n,1 2 3 4,part$(n).out)
total.out: $(PARTS)
	@awk '{ s += $$1 } END { print "total", s }' $(sort $^) > $@
part%.out:
	@seq 1 $*0 | awk '{ s += $$1 } END { print s }' > $@
.PHONY: check
check: total.out
	@test "$$(cat $<)" = "total 1550" && echo "check passed"
END
make -s -j2 total.out
cat part*.out total.out
make -s check || { echo "check failed"; }
rm part1.out
make -n total.out | wc -l
