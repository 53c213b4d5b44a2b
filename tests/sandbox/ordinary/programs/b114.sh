#!/usr/bin/env bash
set -eu
echo "scale=20; 4*a(1)" | bc -l
echo "2^100" | bc
echo "obase=16; 48879" | bc
echo "ibase=2; 101101" | bc
echo "scale=4; sqrt(2)" | bc
bc <<'END'
define f(n) {
  if (n < 2) return (1);
  return (n * f(n - 1));
}
f(20)
END
echo $((0x1f + 010 + 2#1011)) $((7 % 3)) $((-7 / 2)) $((1 << 10)) $((5 > 3 ? 1 : 0))
celsius() { echo "scale=1; ($1 - 32) * 5 / 9" | bc; }
for f in 32 68 212; do echo "$f F = $(celsius "$f") C"; done
