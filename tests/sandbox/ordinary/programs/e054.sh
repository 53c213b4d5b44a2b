#!/usr/bin/env bash
max() { local m=$1; for n in "$@"; do ((n > m)) && m=$n; done; echo "$m"; }
echo "largest: $(max 3 17 9)"
sum() { local IFS=+; echo $(($*)); }
sum 1 2 3 4
