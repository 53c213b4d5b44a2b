from datetime import date, timedelta


def working_days(start, end, holidays=()):
    day, count = start, 0
    while day <= end:
        if day.weekday() < 5 and day not in holidays:
            count += 1
        day += timedelta(days=1)
    return count


print(working_days(date(2024, 12, 1), date(2024, 12, 31), {date(2024, 12, 25), date(2024, 12, 26)}))
print(working_days(date(2023, 1, 1), date(2023, 12, 31)))
