#!/usr/bin/env bash
assert_eq() { if [ "$1" = "$2" ]; then echo "ok - $3"; else echo "not ok - $3: got '$1', wanted '$2'"; failed=1; fi; }
slugify() { tr '[:upper:]' '[:lower:]' <<< "$1" | sed -E 's/[^a-z0-9]+/-/g; s/^-|-$//g'; }
failed=0
assert_eq "$(slugify 'Hello, World!')" hello-world "punctuation"
assert_eq "$(slugify '  Already  spaced ')" already-spaced "spaces"
assert_eq "$(slugify 'ABC')" abc "case"
echo "1..3"
exit $failed
