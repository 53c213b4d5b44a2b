import numpy as np
from sklearn.cluster import KMeans, DBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score

X, truth = make_blobs(n_samples=200, centers=4, cluster_std=0.9, random_state=3)

print(" k   inertia  silhouette")
best_k, best_s = None, -1
for k in range(2, 7):
    km = KMeans(n_clusters=k, n_init=3, random_state=0).fit(X)
    s = silhouette_score(X, km.labels_)
    print(f"{k:2d} {km.inertia_:9.1f}  {s:.3f}")
    if s > best_s:
        best_k, best_s = k, s

km = KMeans(n_clusters=best_k, n_init=3, random_state=0).fit(X)
print("chosen k:", best_k, "ARI:", round(adjusted_rand_score(truth, km.labels_), 3))

db = DBSCAN(eps=0.8, min_samples=5).fit(X)
print("dbscan clusters:", len(set(db.labels_.tolist()) - {-1}), "noise:", int(np.sum(db.labels_ == -1)))
