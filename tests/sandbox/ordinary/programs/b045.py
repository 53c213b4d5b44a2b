from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

meeting = datetime(2023, 3, 24, 15, 0, tzinfo=ZoneInfo("Europe/Paris"))
zones = ["America/New_York", "Asia/Tokyo", "Australia/Sydney", "UTC"]
for week in range(2):
    when = meeting + timedelta(weeks=week)
    print(when.isoformat(), when.tzname())
    for zone in zones:
        there = when.astimezone(ZoneInfo(zone))
        print(f"  {zone:18}{there:%a %d %b %H:%M %Z}")
fold = datetime(2023, 10, 29, 2, 30, tzinfo=ZoneInfo("Europe/Paris"))
print(fold.utcoffset(), fold.replace(fold=1).utcoffset())
gap = datetime(2023, 3, 26, 2, 30, tzinfo=ZoneInfo("Europe/Paris"))
print(gap.astimezone(timezone.utc).isoformat())
