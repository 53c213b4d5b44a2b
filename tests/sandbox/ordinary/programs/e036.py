def evaluate(board):
    lines = [*board, *zip(*board), [board[i][i] for i in range(3)], [board[i][2 - i] for i in range(3)]]
    return next((line[0] for line in map(set, lines) for line in [tuple(line)] if len(line) == 1 and line[0] != "."), None)


print(evaluate(["XOX", "OXO", "OXX"]), evaluate(["XOX", "XOO", "OXX"]), evaluate(["...", "OOO", "X.X"]))
