#!/usr/bin/env bash
while IFS= read -r line || [[ -n $line ]]; do
  trimmed="${line#"${line%%[![:space:]]*}"}"
  trimmed="${trimmed%"${trimmed##*[![:space:]]}"}"
  printf '[%s]\n' "$trimmed"
done < <(printf '  padded  \n\ttab\nlast without newline')
mapfile -t lines < <(printf 'b\na\nc\n')
echo "${#lines[@]} ${lines[0]}"
IFS=$'\n' sorted=($(sort <<< "${lines[*]}")); unset IFS; echo "${sorted[@]}"
join_by() { local IFS=$1; shift; echo "$*"; }; join_by , a b c
printf '%q\n' "it's here"
printf '%(%Y)T\n' 0
