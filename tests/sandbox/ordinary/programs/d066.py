from typing import Generic, NamedTuple, Protocol, TypeVar

T = TypeVar("T")


class Stack(Generic[T]):
    def __init__(self):
        self._items: list[T] = []

    def push(self, item: T) -> None:
        self._items.append(item)

    def pop(self) -> T:
        return self._items.pop()

    def __len__(self):
        return len(self._items)


class Token(NamedTuple):
    kind: str
    value: float = 0.0


def evaluate(expression):
    stack = Stack()
    for word in expression.split():
        if word in "+-*/":
            right, left = stack.pop(), stack.pop()
            stack.push({"+": left + right, "-": left - right, "*": left * right, "/": left / (right or 1)}[word])
        else:
            stack.push(float(word))
    return stack.pop()


print(evaluate("3 4 + 2 *"), evaluate("5 1 2 + 4 * + 3 -"), Token("n", 2.5), len(Stack()))
