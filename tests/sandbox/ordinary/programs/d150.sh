#!/usr/bin/env bash
cat > tree.sh <<'END'
walk() {
  local dir=$1 indent=$2 entry
  for entry in "$dir"/*; do
    [ -e "$entry" ] || continue
    echo "$indent${entry##*/}"
    [ -d "$entry" ] && walk "$entry" "$indent  "
  done
}
END
. ./tree.sh
mkdir -p project/{src/{core,ui},docs} && touch project/src/core/{a,b}.c project/docs/index.md
walk project ""
type -t walk
bash -n tree.sh && echo "syntax is fine"
