board = [["."] * 8 for _ in range(8)]


def queens(row=0, columns=(), found=[]):
    if row == 8:
        found.append(columns)
        return found
    for column in range(8):
        if all(column != c and abs(column - c) != row - r for r, c in enumerate(columns)):
            queens(row + 1, (*columns, column))
    return found


solutions = queens()
print(len(solutions), solutions[0])
