#!/usr/bin/env bash
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/pipe"
( for w in north east south; do echo "$w"; done > "$dir/pipe" ) &
while read -r w; do echo "from the pipe: $w"; done < "$dir/pipe"
wait
coproc CALC { while read -r a op b; do echo $((a $op b)); done; }
for expr in "6 * 7" "100 - 1" "7 / 2"; do
  echo "$expr" >&"${CALC[1]}"
  read -r answer <&"${CALC[0]}"
  echo "$expr = $answer"
done
eval "exec ${CALC[1]}>&-"
wait
exec 5> "$dir/five"
echo "through descriptor five" >&5
exec 5>&-
cat "$dir/five"
