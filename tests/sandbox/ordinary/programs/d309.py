from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
import numpy as np

rng = np.random.default_rng(3)
points = np.vstack([rng.normal(center, 0.3, (40, 3)) for center in (0, 3, 6)])
labels = KMeans(3, n_init=5, random_state=0).fit_predict(points)
print(sorted(np.bincount(labels)), PCA(2).fit(StandardScaler().fit_transform(points)).explained_variance_ratio_[0] > 0.9)
