#!/usr/bin/env bash
usage() { echo "usage: greet [-l LANG] [-n TIMES] NAME"; }
greet() {
  local lang=en times=1 OPTIND=1 option
  while getopts ":l:n:h" option; do
    case $option in
      l) lang=$OPTARG ;;
      n) times=$OPTARG ;;
      h) usage; return 0 ;;
      *) usage; return 2 ;;
    esac
  done
  shift $((OPTIND - 1))
  for ((i = 0; i < times; i++)); do
    case $lang in
      de) echo "Hallo, $1" ;;
      fr) echo "Bonjour, $1" ;;
      *) echo "Hello, $1" ;;
    esac
  done
}
greet Ann
greet -l de -n 2 Bert
greet -x || echo "exit $?"
