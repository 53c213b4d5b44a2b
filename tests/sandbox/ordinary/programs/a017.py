import os
import numpy as np
import plotly.graph_objects as go

rng = np.random.default_rng(3)
n = 100
fig = go.Figure()
for name, (cx, cy) in {"cluster 1": (0, 0), "cluster 2": (4, 4), "cluster 3": (0, 5)}.items():
    pts = rng.normal([cx, cy], 0.8, size=(n, 2))
    fig.add_trace(go.Scatter(x=pts[:, 0], y=pts[:, 1], mode="markers", name=name, marker=dict(size=7, opacity=0.7)))
    print(name, "centroid", np.round(pts.mean(axis=0), 2).tolist())

fig.update_layout(template="plotly_white", xaxis_title="x", yaxis_title="y", width=700, height=500)
fig.write_html("clusters.html", include_plotlyjs="cdn", full_html=True)

content = open("clusters.html", encoding="utf-8").read()
print("html has plotly div:", "plotly-graph-div" in content)
print("size under 200 kB:", os.path.getsize("clusters.html") < 200_000)
