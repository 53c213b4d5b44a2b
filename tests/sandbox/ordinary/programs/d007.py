import re
from collections import Counter

LOG = """\
10.0.0.1 - - [10/Mar/2024:10:00:01] "GET / HTTP/1.1" 200 512
10.0.0.2 - - [10/Mar/2024:10:00:02] "GET /a HTTP/1.1" 404 20
10.0.0.1 - - [10/Mar/2024:10:00:05] "POST /login HTTP/1.1" 302 0
10.0.0.3 - - [10/Mar/2024:10:00:09] "GET /a HTTP/1.1" 404 20
"""
pattern = re.compile(r'^(\S+) .*?"(\w+) (\S+)[^"]*" (\d{3}) (\d+)', re.M)
hits = pattern.findall(LOG)
print(Counter(status for *_, status, _ in hits).most_common())
print(Counter(host for host, *_ in hits).most_common(1))
print(sum(int(size) for *_, size in hits), "bytes")
