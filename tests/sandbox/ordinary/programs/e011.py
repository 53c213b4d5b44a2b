matrix = [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
print([list(row) for row in zip(*matrix)])
print([list(row)[::-1] for row in zip(*matrix)], sum(matrix[i][i] for i in range(3)))
print([x for row in matrix for x in row if x % 2])
