steps = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
x = y = 0
visited = [(0, 0)]
for move in "right right down left down down right".split():
    dx, dy = steps[move]
    x, y = x + dx, y + dy
    visited.append((x, y))
print(visited[-1], len(set(visited)), abs(x) + abs(y))
