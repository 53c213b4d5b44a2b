#!/usr/bin/env bash
cat > server.log <<'END'
2024-05-01 10:00:01 ERROR db timeout
2024-05-01 10:00:07 INFO retry
2024-05-01 10:01:15 ERROR db timeout
2024-05-01 10:02:00 ERROR disk full
END
grep ERROR server.log | cut -d' ' -f4- | sort | uniq -c | sort -rn | sed 's/^ *//'
awk '{ split($2, t, ":"); minute[t[1] ":" t[2]]++ } END { for (m in minute) print m, minute[m] }' server.log | sort
sed -n '/10:00:07/,$p' server.log | wc -l
tail -n 1 server.log | awk '{ $1 = $2 = ""; print }' | sed 's/^ *//'
