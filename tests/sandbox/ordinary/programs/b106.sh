#!/usr/bin/env bash
set -u
export LC_ALL=C
old() { printf '%s\n' bash cat grep sed tar; }
new() { printf '%s\n' bash cat find sed zip; }
echo "removed: $(comm -23 <(old) <(new) | xargs)"
echo "added: $(comm -13 <(old) <(new) | xargs)"
echo "same: $(comm -12 <(old) <(new) | xargs)"
diff <(old) <(new)
echo "diff exit $?"
join <(printf '1 one\n2 two\n3 three\n') <(printf '1 uno\n3 tres\n')
total=0
while read -r n; do ((total += n)); done < <(seq 1 100)
echo "total $total"
seq 5 | tee >(cat > /dev/null) | tail -n 1
wc -l < <(yes | head -n 1234)
