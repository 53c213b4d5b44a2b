import heapq

graph = {"a": {"b": 7, "c": 3}, "b": {"d": 2}, "c": {"b": 1, "d": 8}, "d": {}}


def shortest(start):
    best, queue = {}, [(0, start)]
    while queue:
        cost, node = heapq.heappop(queue)
        if node in best:
            continue
        best[node] = cost
        for other, step in graph[node].items():
            heapq.heappush(queue, (cost + step, other))
    return best


print(shortest("a"))
