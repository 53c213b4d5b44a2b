from collections import defaultdict

edges = [("Oslo", "Bergen"), ("Bergen", "Voss"), ("Rome", "Milan")]
neighbours = defaultdict(set)
for a, b in edges:
    neighbours[a].add(b)
    neighbours[b].add(a)
groups, seen = [], set()
for town in neighbours:
    if town in seen:
        continue
    group, todo = set(), [town]
    while todo:
        at = todo.pop()
        if at not in group:
            group.add(at)
            todo.extend(neighbours[at])
    seen |= group
    groups.append(sorted(group))
print(groups)
