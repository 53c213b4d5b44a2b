#!/usr/bin/env bash
set -u
greet() {
  local OPTIND=1 opt loud=0 times=1 name=you
  while getopts ':ln:t:h' opt; do
    case $opt in
      l) loud=1 ;;
      n) name=$OPTARG ;;
      t) times=$OPTARG ;;
      h) echo "usage: greet [-l] [-n name] [-t times] words"; return 0 ;;
      :) echo "option -$OPTARG needs a value"; return 2 ;;
      \?) echo "unknown option -$OPTARG"; return 2 ;;
    esac
  done
  shift $((OPTIND - 1))
  local text="hello $name${*:+, $*}"
  ((loud)) && text=${text^^}!
  for ((i = 0; i < times; i++)); do echo "$text"; done
}
greet
greet -l -n ann
greet -t 2 -n bob -- how are you
greet -n; echo "status $?"
greet -z; echo "status $?"
greet -h
