# A maze, solved by breadth-first search.
from collections import deque

MAZE = ["S.#.....", "..#.###.", ".#..#...", "...##.#.", "##....#E"]
start, end = (0, 0), (4, 7)
queue, came_from = deque([start]), {start: None}
while queue:
    row, col = cell = queue.popleft()
    if cell == end:
        break
    for nxt in ((row + 1, col), (row - 1, col), (row, col + 1), (row, col - 1)):
        r, c = nxt
        if 0 <= r < 5 and 0 <= c < 8 and MAZE[r][c] != "#" and nxt not in came_from:
            came_from[nxt] = cell
            queue.append(nxt)
path = []
while cell:
    path.append(cell)
    cell = came_from[cell]
print(len(path), "steps")
for r, line in enumerate(MAZE):
    print("".join("*" if (r, c) in path else char for c, char in enumerate(line)))
