#!/usr/bin/env bash
cat > Makefile <<'END'
VERSION ?= 1.0
SOURCES := $(sort $(wildcard src/*.c))
all: info dist
info: ; @echo building $(VERSION) from $(words $(SOURCES)) files: $(notdir $(SOURCES))
dist: $(SOURCES:src/%.c=build/%.o)
build/%.o: src/%.c | build
	@cp $< $@ && echo made $(@F)
build: ; @mkdir -p $@
fail: ; @exit 3
END
mkdir src && touch src/{b,a}.c
make VERSION=2.1
make dist
make -s fail > /dev/null 2>&1 || echo "make gives $?"
make -k nothing 2> /dev/null || echo "no rule"
