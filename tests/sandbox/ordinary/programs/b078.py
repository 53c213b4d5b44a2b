import functools
import itertools
import operator
from collections import ChainMap, Counter, OrderedDict, deque


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.singledispatch
def describe(x):
    return "thing"


@describe.register
def _(x: int):
    return f"number {x}"


@describe.register(list)
def _(x):
    return f"list of {len(x)}"


print(fib(80), fib.cache_info().misses)
print(describe(3), describe([1, 2]), describe("s"))
words = sorted("tea coffee juice milk water cider".split(), key=len)
print({k: list(g) for k, g in itertools.groupby(words, key=len)})
print(list(itertools.accumulate([1, 2, 3, 4], operator.mul)))
print(["".join(p) for p in itertools.permutations("abc", 2)])
print(Counter("mississippi").most_common(2), deque(range(10), maxlen=3))
print(ChainMap({"a": 1}, {"a": 2, "b": 3})["b"], list(OrderedDict(x=1, y=2)))
