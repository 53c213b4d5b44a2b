from operator import attrgetter, itemgetter
from itertools import groupby

staff = [("eng", "Ann", 70), ("ops", "Bo", 50), ("eng", "Cy", 65), ("ops", "Di", 58), ("law", "Ed", 80)]
staff.sort(key=itemgetter(0, 1))
for team, members in groupby(staff, key=itemgetter(0)):
    members = list(members)
    print(team, [name for _, name, _ in members], sum(pay for *_, pay in members) / len(members))
print(max(staff, key=itemgetter(2))[1], attrgetter("real")(3))
