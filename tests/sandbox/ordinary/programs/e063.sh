#!/usr/bin/env bash
tar_dir=$(mktemp -d)
echo data > "$tar_dir/file" && tar -C "$tar_dir" -cf out.tar file && tar -tf out.tar
rm -r "$tar_dir" && tar -xOf out.tar file
stat -c %s out.tar | awk '{ print ($1 % 512 == 0) }'
