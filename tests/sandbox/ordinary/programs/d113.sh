#!/usr/bin/env bash
retry() {
  local tries=$1
  shift
  local n
  for ((n = 1; n <= tries; n++)); do
    if "$@"; then
      echo "succeeded at try $n"
      return 0
    fi
  done
  echo "gave up after $tries"
  return 1
}
flaky() {
  local count
  count=$(cat tries 2> /dev/null || echo 0)
  echo $((count + 1)) > tries
  ((count >= 2))
}
retry 5 flaky
retry 2 false || echo "status $?"
