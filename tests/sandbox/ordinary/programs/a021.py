import json

import numpy as np
import plotly.graph_objects as go
import plotly.io as pio
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
pca = PCA(n_components=3, random_state=0)
comp = pca.fit_transform(X)

fig = go.Figure()
for k, name in enumerate(wine.target_names):
    sel = wine.target == k
    fig.add_scatter3d(x=comp[sel, 0], y=comp[sel, 1], z=comp[sel, 2], mode="markers",
                      marker={"size": 4}, name=str(name))
fig.update_layout(scene={"xaxis_title": "PC1", "yaxis_title": "PC2", "zaxis_title": "PC3"})

doc = json.loads(pio.to_json(fig))
print([d["name"] for d in doc["data"]], doc["data"][0]["type"])
print("explained variance:", np.round(pca.explained_variance_ratio_, 3).tolist())
print("points per class:", [int((wine.target == k).sum()) for k in range(3)])
