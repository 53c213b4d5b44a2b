import numpy as np

np.save("grid.npy", np.arange(12).reshape(3, 4))
np.savetxt("grid.csv", np.load("grid.npy"), delimiter=",", fmt="%d", header="a,b,c,d", comments="")
print(open("grid.csv").read())
loaded = np.genfromtxt("grid.csv", delimiter=",", names=True)
print(loaded["c"], loaded.dtype.names, np.loadtxt("grid.csv", delimiter=",", skiprows=1).sum())
