import dbm, shelve, pickle
with shelve.open("s") as s: s["a"] = {"b": [1, 2]}
with shelve.open("s") as s: print(dict(s))
with dbm.open("k", "c") as d: d["x"] = "1"; print(d["x"])
print(pickle.loads(pickle.dumps({1: {2}})))
