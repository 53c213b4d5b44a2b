#!/usr/bin/env bash
set -u
path=/srv/data/report.final.tar.gz
echo "${path##*/} ${path%/*} ${path%%.*} ${path#*.}"
echo "${path/data/DATA} ${path//r/R} ${#path} ${path:5:4} ${path: -2}"
unset maybe
echo "${maybe:-default} ${maybe-unset} ${maybe:+never}"
: "${maybe:=assigned}"
echo "$maybe ${maybe@Q} ${maybe^^} ${maybe~}"
shopt -s extglob nocasematch
for f in Photo.JPG notes.txt archive.tar.gz 2023.csv; do
  case $f in
    *.@(jpg|png)) kind=image ;;
    +([0-9]).csv) kind=yearly ;;
    *.tar.?z) kind=archive ;;
    *) kind=other ;;
  esac
  echo "$f is $kind"
done
if [[ "2023-07-14" =~ ^([0-9]{4})-([0-9]{2})-([0-9]{2})$ ]]; then
  echo "year ${BASH_REMATCH[1]} month $((10#${BASH_REMATCH[2]}))"
fi
printf '%05.1f|%-6s|%x|%s\n' 3.14159 left 255 "$(printf '%q' 'a b')"
