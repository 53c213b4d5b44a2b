#!/usr/bin/env bash
f() { return 3; }
f || echo "f gave $?"
result=$(echo out; exit 4) || echo "$result and $?"
if grep -q x <<< "abc"; then echo yes; else echo no; fi
[ -z "" ] && [ -n "a" ] && [ 2 -gt 1 ] && echo "tests pass"
case "file.tar.gz" in *.gz) echo gzip ;; *.zip) echo zip ;; esac
