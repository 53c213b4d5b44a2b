from plotly.subplots import make_subplots
import plotly.graph_objects as go
import numpy as np

np.random.seed(0)
y = np.cumsum(np.random.randn(100))

fig = make_subplots(
    rows=2, cols=2,
    subplot_titles=("Random walk", "Histogram", "Box", "Heatmap"),
)
fig.add_trace(go.Scatter(y=y, mode="lines"), row=1, col=1)
fig.add_trace(go.Histogram(x=np.diff(y), nbinsx=20), row=1, col=2)
fig.add_trace(go.Box(y=y, name="walk"), row=2, col=1)
fig.add_trace(go.Heatmap(z=y.reshape(10, 10), colorscale="Viridis"), row=2, col=2)
fig.update_layout(showlegend=False, height=700, title_text="Overview")
fig.write_html("overview.html", include_plotlyjs=True, div_id="overview")

with open("overview.html", encoding="utf-8") as f:
    text = f.read()
print("contains div:", 'id="overview"' in text)
print("embedded plotly.js:", len(text) > 1_000_000)
print("trace types:", [t.type for t in fig.data])
print(f"final value {y[-1]:.3f}")
