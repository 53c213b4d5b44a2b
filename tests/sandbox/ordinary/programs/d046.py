import time
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

start = datetime(2024, 3, 30, 22, 0, tzinfo=ZoneInfo("Europe/Berlin"))
for hours in (0, 3, 6):
    print((start.astimezone(timezone.utc) + timedelta(hours=hours)).astimezone(ZoneInfo("Europe/Berlin")).isoformat())
print(datetime.strptime("01.02.2024 13:45", "%d.%m.%Y %H:%M").strftime("%A %d %B %Y, %I:%M %p"))
before = time.monotonic()
time.sleep(0.01)
print(time.monotonic() - before >= 0.01)
