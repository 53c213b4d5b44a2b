f=report.txt; cat > $f <<'X'
Total: 42
X
if [[ -f $f && -s $f ]]; then while IFS=': ' read -r k v; do echo "$k=$v"; done < $f; fi; [ "$(wc -l < $f)" -eq 1 ] && echo one; (( $(grep -c Total $f) )) && echo found; printf '%-10s|%5d|\n' x 7; echo "${v:-unset} ${f:0:3} ${#f}"; IFS=,; set -- a b; echo "$*"; unset IFS; echo {a,b}{1,2}; echo "$(< $f)"; local_fn() { return 4; }; local_fn || echo $?; select x in; do break; done </dev/null 2>/dev/null; let 'y=5**2'; echo $y
