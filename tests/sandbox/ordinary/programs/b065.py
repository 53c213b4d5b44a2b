import re
from collections import Counter

LOG = """\
192.0.2.10 - GET /index.html 200 512
192.0.2.11 - POST /login 302 0
192.0.2.10 - GET /missing 404 91
198.51.100.7 - GET /index.html 200 512
bad line here
"""
pattern = re.compile(r"""
    ^(?P<ip>\d{1,3}(?:\.\d{1,3}){3})\s-\s
    (?P<verb>[A-Z]+)\s(?P<path>\S+)\s
    (?P<code>\d{3})\s(?P<size>\d+)$
""", re.VERBOSE)
codes, size = Counter(), 0
for number, line in enumerate(LOG.splitlines(), 1):
    match = pattern.match(line)
    if not match:
        print(f"line {number} not understood: {line!r}")
        continue
    codes[match["code"]] += 1
    size += int(match["size"])
print(sorted(codes.items()), size)
print(re.sub(r"(\d+)\.(\d+)\.(\d+)\.\d+", r"\1.\2.\3.x", LOG.splitlines()[0]))
print(re.split(r"[;,]\s*", "a, b;c,d"), re.findall(r"(?<=/)\w+", LOG))
