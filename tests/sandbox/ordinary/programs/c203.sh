set -euo pipefail
tmp=$(mktemp -d); trap 'rm -rf "$tmp"; echo cleaned' EXIT
printf '3\n1\n2\n' | sort -n > "$tmp/s"; paste -sd+ "$tmp/s"; arr=(x y z); echo "${#arr[@]} ${arr[-1]} ${arr[@]:1}"; declare -A m=([a]=1); echo "${m[a]}"; [[ abc =~ b(.) ]] && echo "${BASH_REMATCH[1]}"
