#!/usr/bin/env bash
set -u
rpn() {
  local stack=() token a b
  for token in "$@"; do
    case $token in
      [-+x/%])
        ((${#stack[@]} >= 2)) || { echo "underflow at $token"; return 1; }
        b=${stack[-1]}; unset 'stack[-1]'
        a=${stack[-1]}; unset 'stack[-1]'
        [[ $token == [/%] && $b == 0 ]] && { echo "division by zero"; return 1; }
        stack+=("$((a ${token/x/*} b))") ;;
      dup) stack+=("${stack[-1]}") ;;
      *[!0-9]*) echo "bad token $token"; return 1 ;;
      *) stack+=("$token") ;;
    esac
  done
  echo "$* => ${stack[*]}"
}
rpn 3 4 + 2 x
rpn 5 dup x 1 -
rpn 100 7 / 100 7 %
rpn 1 + || echo "status $?"
rpn 1 0 / || echo "status $?"
rpn 2 two + || echo "status $?"
