#!/usr/bin/env bash
# Compare two lists of installed packages.
printf 'bash\ncurl\ngit\nvim\n' > monday
printf 'bash\ngit\nnano\nvim\n' > friday
diff monday friday
echo "status $?"
echo "added: $(comm -13 monday friday | xargs)"
echo "removed: $(comm -23 monday friday | xargs)"
diff -y --width=30 monday friday | tr '\t' ' ' | tr -s ' ' | sed 's/ $//'
cmp -s monday monday && echo "same file"
