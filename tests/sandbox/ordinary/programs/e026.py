from datetime import date, timedelta

birthdays = {"Ann": date(1990, 5, 17), "Bo": date(1985, 12, 2), "Cy": date(2000, 2, 29)}
day = date(2024, 3, 1)
for name, born in birthdays.items():
    age = day.year - born.year - ((day.month, day.day) < (born.month, born.day))
    print(name, age, born.strftime("%A"), (day - born).days)
print(day.isocalendar()[:2], day + timedelta(weeks=2), day.replace(month=12))
