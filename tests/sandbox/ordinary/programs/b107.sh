#!/usr/bin/env bash
set -u
try() {
  if "$@" > /dev/null 2>&1; then echo "ok: $*"; else echo "failed: $*"; fi
}
try df -h
try uname -a
try id
try env
try whoami
try pwd
try date
try ls -la /
try cat /etc/os-release
try nproc
try uptime
try locale
try cat /proc/meminfo
try cat /no/such/file
[ -n "${HOME:-}" ] && echo "HOME is set"
