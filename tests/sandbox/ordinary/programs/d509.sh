#!/usr/bin/env bash
zip_and_list() {
  mkdir -p pack/sub && echo a > pack/a && echo b > pack/sub/b
  tar -cf pack.tar pack && tar -tf pack.tar | sort
  for tool in gzip bzip2 xz; do
    command -v $tool > /dev/null || continue
    $tool -k -c pack.tar > "pack.tar.$tool" && $tool -dc "pack.tar.$tool" | cmp - pack.tar && echo "$tool ok"
  done
}
zip_and_list
tar -xf pack.tar --strip-components=1 pack/sub && cat sub/b
