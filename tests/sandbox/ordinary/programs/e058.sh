#!/usr/bin/env bash
printf 'a: b\n\tcat $< | tr a-z A-Z > $@\nb:\n\techo text > $@\n' > Makefile
make -s && cat a
make -q && echo "up to date"
