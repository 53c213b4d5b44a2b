import os
import numpy as np

rng = np.random.default_rng(8)
x = rng.integers(0, 100, size=(50, 4))
y = rng.random(50)

np.save("x.npy", x)
np.savez_compressed("bundle.npz", x=x, y=y)
np.savetxt("x.csv", x, delimiter=",", fmt="%d", header="a,b,c,d", comments="")

print("npy equal:", np.array_equal(np.load("x.npy"), x))
with np.load("bundle.npz") as z:
    print("npz keys:", sorted(z.files), z["y"].dtype)
print("csv equal:", np.array_equal(np.loadtxt("x.csv", delimiter=",", skiprows=1, dtype=int), x))

mm = np.memmap("big.dat", dtype="float32", mode="w+", shape=(1000, 100))
mm[:] = np.arange(1000, dtype="float32")[:, None]
mm.flush()
del mm
ro = np.memmap("big.dat", dtype="float32", mode="r", shape=(1000, 100))
print("memmap sum:", float(ro.sum(dtype="float64")), "bytes:", os.path.getsize("big.dat"))
rec = np.genfromtxt("x.csv", delimiter=",", names=True, dtype=None)
print(rec.dtype.names, rec["b"][:3].tolist())
