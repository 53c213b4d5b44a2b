import pickle
from collections import OrderedDict, namedtuple

Point = namedtuple("Point", "x y")
state = {"points": [Point(1, 2), Point(3, 4)], "order": OrderedDict(a=1, b=2), "raw": b"\x00\x01"}
with open("state.pkl", "wb") as out:
    pickle.dump(state, out, protocol=5)
with open("state.pkl", "rb") as data:
    loaded = pickle.load(data)
print(loaded == state, loaded["points"][1].y, Point(1, 2)._replace(x=9))
