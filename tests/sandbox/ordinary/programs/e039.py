schedule = [("maths", 9.0, 10.5), ("art", 10.0, 11.0), ("sport", 11.0, 12.5), ("music", 12.0, 13.0)]
chosen, end = [], 0.0
for name, start, stop in sorted(schedule, key=lambda lesson: lesson[2]):
    if start >= end:
        chosen.append(name)
        end = stop
print(chosen)
clashes = [(a[0], b[0]) for i, a in enumerate(schedule) for b in schedule[i + 1:] if a[1] < b[2] and b[1] < a[2]]
print(clashes)
