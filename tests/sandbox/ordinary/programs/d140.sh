#!/usr/bin/env bash
log() { printf '[%s] %s\n' "$1" "$2" | tee -a run.log; }
step() {
  log INFO "starting $1"
  if "$1"; then log INFO "$1 done"; else log ERROR "$1 failed ($?)"; fi
}
build() { mkdir -p out && echo built > out/app; }
check() { grep -q passed out/report; }
step build
step check 2> /dev/null
grep -c INFO run.log
