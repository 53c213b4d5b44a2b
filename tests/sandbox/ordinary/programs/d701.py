# Seating plan: pairs that must not sit together.
from itertools import permutations

pupils, apart = ["Ann", "Bo", "Cy", "Di"], {("Ann", "Bo"), ("Cy", "Di")}
plans = [
    row for row in permutations(pupils)
    if not any((a, b) in apart or (b, a) in apart for a, b in zip(row, row[1:]))
]
print(len(plans), plans[0])
