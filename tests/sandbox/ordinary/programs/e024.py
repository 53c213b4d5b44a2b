def spiral(rows, columns):
    grid, r, c, dr, dc = [[0] * columns for _ in range(rows)], 0, 0, 0, 1
    for n in range(1, rows * columns + 1):
        grid[r][c] = n
        if not (0 <= r + dr < rows and 0 <= c + dc < columns) or grid[r + dr][c + dc]:
            dr, dc = dc, -dr
        r, c = r + dr, c + dc
    return grid


for row in spiral(4, 5):
    print("".join(f"{n:4}" for n in row))
