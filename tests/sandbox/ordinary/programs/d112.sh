#!/usr/bin/env bash
# Rename photos by their number, without spaces.
mkdir photos && cd photos || exit 1
touch "IMG 7.JPG" "IMG 12.JPG" "notes.txt"
for file in *.JPG; do
  number=${file//[^0-9]/}
  printf -v new 'photo-%03d.%s' "$number" "$(tr '[:upper:]' '[:lower:]' <<< "${file##*.}")"
  mv -- "$file" "$new"
done
ls
