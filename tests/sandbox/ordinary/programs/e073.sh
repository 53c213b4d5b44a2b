#!/usr/bin/env bash
mkdir src && printf 'int main() { return 0; }\n' > src/main.c && printf '# Title\n' > src/README.md
wc -l src/* | tail -1 | xargs
find src -name '*.c' -exec grep -c main {} +
for f in src/*; do echo "${f#src/}: ${f##*.}"; done
