import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse.linalg import spsolve
from scipy.spatial import KDTree, ConvexHull, distance

n = 1000
main = 2 * np.ones(n)
off = -np.ones(n - 1)
L = sparse.diags([off, main, off], [-1, 0, 1], format="csc")
u = spsolve(L, np.full(n, 1 / (n + 1) ** 2))
print("nnz:", L.nnz, "max of Poisson solution: %.4f" % u.max())

sparse.save_npz("laplacian.npz", L)
print("reload equal:", (sparse.load_npz("laplacian.npz") != L).nnz == 0)

rng = np.random.default_rng(21)
pts = np.vstack([rng.normal(c, 0.3, (20, 2)) for c in [(0, 0), (3, 0), (0, 3)]])
labels = fcluster(linkage(pts, "ward"), t=3, criterion="maxclust")
print("cluster sizes:", np.bincount(labels)[1:].tolist())

d, i = KDTree(pts).query([[0, 0], [3, 0], [1.5, 1.5]], k=1)
print("nearest distances:", np.round(d, 3).tolist())
print("hull area: %.3f" % ConvexHull(pts).volume)
print("mean pairwise distance: %.3f" % distance.pdist(pts).mean())
