#!/usr/bin/env bash
printf 'alpha=1\nbeta=2\n' > vars
source ./vars && echo $((alpha + beta))
while IFS== read -r k v; do echo "$k -> $v"; done < vars
compgen -v | grep -c '^beta$'
