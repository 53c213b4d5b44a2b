import calendar

print(calendar.month(2024, 2))
print([year for year in range(1896, 1913) if calendar.isleap(year)])
print(calendar.day_name[calendar.weekday(1969, 7, 20)])
