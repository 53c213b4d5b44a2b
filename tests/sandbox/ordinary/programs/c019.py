from plotly.subplots import make_subplots
import plotly.graph_objects as go
fig = make_subplots(rows=1, cols=2, subplot_titles=("in", "out"))
fig.add_trace(go.Bar(x=["a", "b"], y=[1, 2]), row=1, col=1)
fig.add_trace(go.Scatter(x=[1, 2], y=[3, 4]), row=1, col=2)
html = fig.to_html(full_html=False)
print(len(fig.data), html.startswith("<div"))
