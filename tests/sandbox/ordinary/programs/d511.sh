#!/usr/bin/env bash
stack=(); push() { stack+=("$1"); }; pop() { unset 'stack[-1]'; }
check() {
  stack=(); local i c
  for ((i = 0; i < ${#1}; i++)); do
    c=${1:i:1}
    case $c in
      '(' | '[' | '{') push "$c" ;;
      ')') [[ ${stack[-1]:-} == '(' ]] && pop || return 1 ;;
      ']') [[ ${stack[-1]:-} == '[' ]] && pop || return 1 ;;
      '}') [[ ${stack[-1]:-} == '{' ]] && pop || return 1 ;;
    esac
  done
  ((${#stack[@]} == 0))
}
for text in '(a[1]{})' '(]' '((x)'; do check "$text" && echo "$text balanced" || echo "$text not"; done 2> /dev/null
