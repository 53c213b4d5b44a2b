# Marks of a class: mean, median, and who needs help.
import statistics

marks = {"Ada": [78, 91, 85], "Ben": [55, 48, 62], "Cleo": [90, 95, 100], "Dan": [60, 70, 65]}
means = {name: statistics.mean(values) for name, values in marks.items()}
print(f"class mean {statistics.mean(means.values()):.1f}, median {statistics.median(means.values()):.1f}")
for name, mean in sorted(means.items(), key=lambda item: item[1]):
    print(f"{name:<6}{mean:6.1f}{'  needs help' if mean < 60 else ''}")
