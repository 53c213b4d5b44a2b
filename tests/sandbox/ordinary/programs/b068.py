import copy
import pickle


class Counter:
    def __init__(self, start):
        self.value = start
        self.cache = {"expensive": object()}

    def __getstate__(self):
        return {"value": self.value}

    def __setstate__(self, state):
        self.value = state["value"]
        self.cache = {}


class Point(tuple):
    def __new__(cls, x, y):
        return super().__new__(cls, (x, y))

    def __reduce__(self):
        return Point, tuple(self)


data = {"counter": Counter(41), "points": [Point(1, 2), Point(3, 4)], "set": frozenset({1, 2})}
for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
    back = pickle.loads(pickle.dumps(data, protocol))
    print(protocol, back["counter"].value + 1, back["counter"].cache, back["points"], sorted(back["set"]))
try:
    pickle.dumps(lambda x: x)
except (pickle.PicklingError, AttributeError) as exc:
    print("cannot pickle a lambda:", type(exc).__name__ in ("PicklingError", "AttributeError"))
nested = [[1, 2], [3]]
deep = copy.deepcopy(nested)
deep[0].append(9)
print(nested, deep)
