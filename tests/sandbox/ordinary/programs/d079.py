def transpose(matrix):
    return [list(row) for row in zip(*matrix)]


def multiply(a, b):
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def determinant(m):
    if len(m) == 1:
        return m[0][0]
    return sum((-1) ** c * m[0][c] * determinant([r[:c] + r[c + 1:] for r in m[1:]]) for c in range(len(m)))


m = [[2, 0, 1], [1, 3, 2], [1, 1, 1]]
print(transpose(m), multiply(m, m), determinant(m))
