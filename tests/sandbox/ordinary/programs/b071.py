import bisect
import heapq
import itertools

counter = itertools.count()
heap = []
for priority, name in [(3, "sweep"), (1, "fire"), (2, "cook"), (1, "flood")]:
    heapq.heappush(heap, (priority, next(counter), name))
while heap:
    priority, _, name = heapq.heappop(heap)
    print(priority, name)
print(list(heapq.merge([1, 4, 9], [2, 4, 8], [0, 10])))
print(heapq.nlargest(2, ["kiwi", "banana", "fig"], key=len))
graph = {"a": {"b": 4, "c": 1}, "b": {"d": 1}, "c": {"b": 2, "d": 6}, "d": {}}
dist, todo = {}, [(0, "a")]
while todo:
    d, node = heapq.heappop(todo)
    if node in dist:
        continue
    dist[node] = d
    for nxt, w in graph[node].items():
        heapq.heappush(todo, (d + w, nxt))
print(dist)
print(["FDCBA"[bisect.bisect([60, 70, 80, 90], s)] for s in (33, 60, 77, 89, 100)])
