#!/usr/bin/env bash
cat > app.log <<'END'
INFO start
WARN slow
INFO work
ERROR broke
END
for level in INFO WARN ERROR; do echo "$level $(grep -c "^$level" app.log)"; done
sed '/^INFO/d' app.log
awk '{ print NR ":" $0 }' app.log | tail -1
