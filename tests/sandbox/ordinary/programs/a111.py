import numpy as np


def step(board):
    n = sum(np.roll(np.roll(board, i, 0), j, 1)
            for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return ((n == 3) | ((board == 1) & (n == 2))).astype(int)


def show(board):
    print("\n".join("".join(".#"[c] for c in row) for row in board))
    print()


board = np.zeros((10, 10), dtype=int)
board[1:4, 1:4] = [[0, 1, 0], [0, 0, 1], [1, 1, 1]]  # glider
show(board)
for _ in range(12):
    board = step(board)
show(board)

soup = (np.random.default_rng(5).random((64, 64)) < 0.3).astype(int)
history = []
for gen in range(50):
    history.append(int(soup.sum()))
    soup = step(soup)
print("population:", history[::10])
