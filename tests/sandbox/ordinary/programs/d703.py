def longest_common(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def knapsack(items, limit):
    best = [0] * (limit + 1)
    for weight, value in items:
        for room in range(limit, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[limit]


print(longest_common("AGGTAB", "GXTXAYB"), knapsack([(1, 1), (3, 4), (4, 5), (5, 7)], 7))
