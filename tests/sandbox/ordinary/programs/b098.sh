#!/usr/bin/env bash
set -euo pipefail
export LC_ALL=C
log() {
cat <<'END'
10.0.0.1:GET:/a:200
10.0.0.2:GET:/b:404
10.0.0.1:POST:/a:200
10.0.0.3:GET:/a:200
10.0.0.1:GET:/c:500
10.0.0.2:GET:/a:200
END
}
echo "by host"
log | cut -d: -f1 | sort | uniq -c | sort -k1,1nr -k2 | awk '{ print $1, $2 }'
echo "unique paths: $(log | cut -d: -f3 | sort -u | paste -sd, -)"
echo "only once:"
log | cut -d: -f2,4 | sort | uniq -u
log | sort -t: -k4,4n -k1,1r | head -n 2
paste -d' ' <(log | cut -d: -f3) <(log | cut -d: -f4) | sort | uniq -d
printf '%s\n' 10K 2M 512 1G | sort -h | tr '\n' ' '; echo
printf '%s\n' v1.10 v1.9 v1.2 | sort -V | tr '\n' ' '; echo
