#!/usr/bin/env bash
for n in 15 30 7; do
  if ((n % 15 == 0)); then echo FizzBuzz; elif ((n % 5 == 0)); then echo Buzz; elif ((n % 3 == 0)); then echo Fizz; else echo "$n"; fi
done
i=5; while ((i > 0)); do printf '%d ' $((i--)); done; echo go
until [[ -e flag ]]; do touch flag; done; ls
