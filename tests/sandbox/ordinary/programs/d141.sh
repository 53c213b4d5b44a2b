#!/usr/bin/env bash
fib() { local a=0 b=1 i; for ((i = 0; i < $1; i++)); do printf '%d ' "$a"; ((b += a, a = b - a)); done; echo; }
fib 15
bubble() { local -a v=("$@"); local i j t; for ((i = 0; i < ${#v[@]}; i++)); do for ((j = 0; j < ${#v[@]} - i - 1; j++)); do
  if ((v[j] > v[j + 1])); then t=${v[j]}; v[j]=${v[j + 1]}; v[j + 1]=$t; fi; done; done; echo "${v[@]}"; }
bubble 5 2 9 1 7
is_prime() { local n=$1 d; ((n > 1)) || return 1; for ((d = 2; d * d <= n; d++)); do ((n % d)) || return 1; done; }
for n in {1..30}; do is_prime "$n" && printf '%d ' "$n"; done; echo
