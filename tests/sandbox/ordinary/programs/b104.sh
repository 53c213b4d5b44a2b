#!/usr/bin/env bash
set -u
hanoi() {
  local n=$1 from=$2 to=$3 via=$4
  ((n == 0)) && return
  hanoi $((n - 1)) "$from" "$via" "$to"
  moves+=("$from$to")
  hanoi $((n - 1)) "$via" "$to" "$from"
}
gcd() { local a=$1 b=$2; while ((b)); do ((t = a % b, a = b, b = t)); done; echo "$a"; }
is_prime() {
  local n=$1 d
  ((n < 2)) && return 1
  for ((d = 2; d * d <= n; d++)); do ((n % d == 0)) && return 1; done
  return 0
}
swap() { local -n x=$1 y=$2; local t=$x; x=$y; y=$t; }
moves=()
hanoi 3 A C B
echo "${#moves[@]} moves: ${moves[*]}"
echo "gcd $(gcd 252 198)"
for n in {1..30}; do is_prime "$n" && printf '%d ' "$n"; done; echo
left=1 right=2
swap left right
echo "left=$left right=$right"
declare -f gcd | wc -l
