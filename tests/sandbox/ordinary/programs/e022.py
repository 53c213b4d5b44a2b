triangle = [[1]]
for _ in range(7):
    row = triangle[-1]
    triangle.append([1, *(a + b for a, b in zip(row, row[1:])), 1])
for row in triangle:
    print(" ".join(map(str, row)).center(24).rstrip())
