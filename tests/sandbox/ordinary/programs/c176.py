import numpy as np
np.save("a.npy", np.arange(12).reshape(3, 4)); m = np.load("a.npy", mmap_mode="r+"); m[0] = 9; m.flush(); print(np.load("a.npy").sum())
np.savetxt("a.txt", np.eye(2), fmt="%d"); print(np.genfromtxt("a.txt", dtype=int).tolist(), np.fromfile("a.npy", np.uint8)[:6].tobytes())
np.show_config(mode="dicts"); print(np.linalg.svd(np.ones((50, 50)), compute_uv=False)[0].round())
