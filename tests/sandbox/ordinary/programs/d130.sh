#!/usr/bin/env bash
menu() {
  PS3="pick: "
  select dish in soup salad pizza quit; do
    case $dish in
      quit) echo "bye"; break ;;
      "") echo "no such dish" ;;
      *) echo "one $dish" ;;
    esac
  done
}
menu <<< $'1\n9\n3\n4' 2> /dev/null
