import pickle
import shelve

with shelve.open("scores") as scores:
    scores["ann"] = [3, 5]
    scores["bob"] = [1]
with shelve.open("scores") as scores:
    scores["ann"] = scores["ann"] + [9]
    print(sorted(scores), scores["ann"], "cy" in scores)
print(pickle.loads(pickle.dumps({"a": (1, {2, 3})})))
