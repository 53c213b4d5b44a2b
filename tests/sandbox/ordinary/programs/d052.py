def game_of_life(cells, steps):
    for _ in range(steps):
        neighbours = {}
        for x, y in cells:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        neighbours[x + dx, y + dy] = neighbours.get((x + dx, y + dy), 0) + 1
        cells = {cell for cell, n in neighbours.items() if n == 3 or (n == 2 and cell in cells)}
    return cells


glider = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
after = game_of_life(glider, 8)
for y in range(6):
    print("".join("#" if (x, y) in after else "." for x in range(6)))
