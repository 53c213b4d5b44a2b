#!/usr/bin/env bash
perl -ne 'print if /^b/' <<< $'apple\nbanana\nberry'
perl -e 'my %h = (a => 3, b => 1); print join(",", sort { $h{$a} <=> $h{$b} } keys %h), "\n"'
echo "price 12" | perl -pe 's/(\d+)/$1 * 2/e'
perl -lane '$s += $F[1]; END { print $s }' <<< $'x 1\ny 2.5'
