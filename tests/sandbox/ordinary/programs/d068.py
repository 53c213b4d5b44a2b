# Tower of Hanoi and the Ackermann function, for the lesson on recursion.
import sys

moves = []


def hanoi(n, source="A", target="C", spare="B"):
    if n:
        hanoi(n - 1, source, spare, target)
        moves.append(f"{source}{target}")
        hanoi(n - 1, spare, target, source)


def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


hanoi(4)
print(len(moves), *moves)
sys.setrecursionlimit(3000)
print(ackermann(2, 3))


def deep(n):
    return deep(n + 1)


try:
    deep(0)
except RecursionError as error:
    print(type(error).__name__)
