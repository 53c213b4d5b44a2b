import datetime as dt
a = dt.date(2024, 2, 28); print(a + dt.timedelta(2), (dt.date(2024, 12, 25) - a).days, a.isocalendar().week, dt.datetime.strptime("5 Mar 2024", "%d %b %Y").isoformat(), dt.datetime.fromisoformat("2024-01-01T10:00:00+02:00").astimezone(dt.timezone.utc).hour, dt.datetime.now().year >= 2024, dt.time(1, 2).strftime("%I:%M %p"))
