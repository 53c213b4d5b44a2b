#!/usr/bin/env bash
xargs -n 2 echo pair <<< "1 2 3 4 5"
printf '%s\0' "a b" "c" | xargs -0 -I{} echo "<{}>"
seq 4 | xargs -P 2 -I{} sh -c 'echo $(({} * {})) > sq.{}'
cat sq.* | sort -n | xargs
echo "a:b:c" | IFS=: read -r x y z; echo "${x:-lost in the pipe}"
IFS=: read -r x y z <<< "a:b:c"; echo "$z$y$x"
