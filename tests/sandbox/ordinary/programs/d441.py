import sortedcontainers
import xxhash
import zstandard
from dateutil import parser, relativedelta, rrule
from datetime import datetime

print(sortedcontainers.SortedDict({"b": 1, "a": 2}).peekitem(0), sortedcontainers.SortedList([3, 1, 2]).bisect(2))
print(xxhash.xxh64_hexdigest(b"abc"), zstandard.decompress(zstandard.compress(b"z" * 100))[:2])
print(parser.parse("Mar 5 2024 3pm").isoformat(), datetime(2024, 1, 31) + relativedelta.relativedelta(months=1))
print([d.strftime("%d.%m") for d in rrule.rrule(rrule.WEEKLY, count=3, dtstart=datetime(2024, 2, 20))])
