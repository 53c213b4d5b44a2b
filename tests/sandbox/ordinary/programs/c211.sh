python3 -c 'print(sum(range(5)))'; python3 - <<'P'
import sys, json
print(json.dumps({"a": 1}), len(sys.argv))
P
echo 'print("mod")' > m.py; python3 -m m; perl -e 'print join(",", map { $_*2 } 1..3), "\n"'; echo "a b" | perl -lane 'print $F[1]'
