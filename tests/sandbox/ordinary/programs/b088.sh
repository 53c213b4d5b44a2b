#!/usr/bin/env bash
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
cat > Makefile <<'END'
SRC := $(sort $(wildcard *.txt))
OUT := $(SRC:.txt=.up)
.PHONY: all clean
all: report
report: $(OUT)
	@cat $^ > $@
	@echo "made $@ from $(words $^) files"
%.up: %.txt
	@echo "upper $<"
	@tr a-z A-Z < $< > $@
clean:
	@rm -f $(OUT) report
END
for w in one two three; do echo "$w" > "$w.txt"; done
make -s
make -s && echo "second make did nothing"
cat report
make -s clean
ls | tr '\n' ' '; echo
