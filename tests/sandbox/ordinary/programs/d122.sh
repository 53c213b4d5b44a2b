#!/usr/bin/env bash
openssl_available=$(command -v openssl > /dev/null && echo yes || echo no)
echo "$openssl_available" | grep -qE 'yes|no' && echo "checked"
echo -n "hello" | sha256sum | cut -c1-16
echo -n "hello" | md5sum | cut -d' ' -f1
echo "hello" | base64
echo "aGVsbG8K" | base64 -d
cksum <<< "abc" | cut -d' ' -f1
printf 'abc' | od -An -tx1 | xargs
