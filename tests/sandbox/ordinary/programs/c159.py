import datetime as dt, zoneinfo, calendar, time
z = zoneinfo.ZoneInfo("America/New_York"); print(dt.datetime(2024, 3, 10, 12, tzinfo=z).utcoffset(), len(zoneinfo.available_timezones()) > 300)
import os; os.environ["TZ"] = "Asia/Tokyo"; time.tzset(); print(time.strftime("%H:%M", time.localtime(0)), calendar.monthrange(2024, 2))
