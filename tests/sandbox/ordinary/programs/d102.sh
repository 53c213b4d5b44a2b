#!/usr/bin/env bash
set -euo pipefail
cat > access.log <<'END'
10.0.0.1 GET /index 200
10.0.0.2 GET /missing 404
10.0.0.1 POST /login 200
10.0.0.3 GET /missing 404
10.0.0.1 GET /index 500
END
echo "by status:"
awk '{ count[$4]++ } END { for (s in count) print s, count[s] }' access.log | sort
echo "top client: $(cut -d' ' -f1 access.log | sort | uniq -c | sort -rn | head -1 | awk '{ print $2 " (" $1 ")" }')"
grep -c ' 404$' access.log
