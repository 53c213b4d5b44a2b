import numpy as np

scores = np.array([[78, 92, 65], [88, 54, 91], [59, 71, 83], [95, 96, 99]])
weights = np.array([0.5, 0.3, 0.2])
final = scores @ weights
print("final:", final)
print("z-scores:\n", np.round((scores - scores.mean(axis=0)) / scores.std(axis=0), 2))
print("passed all:", np.where((scores >= 60).all(axis=1))[0])

dt = np.dtype([("name", "U10"), ("age", "i4"), ("height", "f4")])
people = np.array([("Rex", 31, 1.82), ("Mia", 25, 1.65), ("Tom", 31, 1.75)], dtype=dt)
print(np.sort(people, order=["age", "name"])["name"])
print("mean height: %.2f" % people["height"].mean())

masked = np.ma.masked_less(scores, 60)
print("masked means:", np.round(masked.mean(axis=0), 2))
print(np.unique(people["age"], return_counts=True))
