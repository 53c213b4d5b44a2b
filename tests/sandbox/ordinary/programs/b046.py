import calendar
from datetime import date, datetime, timedelta

start = date(2024, 1, 31)
for months in range(1, 6):
    index = start.month - 1 + months
    year, month = start.year + index // 12, index % 12 + 1
    day = min(start.day, calendar.monthrange(year, month)[1])
    print(date(year, month, day).strftime("%Y-%m-%d %A"))
print(calendar.month(2024, 2))
fridays = [d for d in calendar.Calendar().itermonthdates(2024, 9) if d.weekday() == 4 and d.day == 13]
print("Friday 13th:", fridays)
delta = datetime(2024, 12, 25) - datetime(2024, 7, 4, 12)
print(delta, delta.total_seconds(), delta // timedelta(days=7))
print(date(2020, 12, 31).isocalendar())
print(datetime.strptime("07 Mar 2019 18:05", "%d %b %Y %H:%M").isoformat())
