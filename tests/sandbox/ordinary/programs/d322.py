import plotly.express as px
import plotly.graph_objects as go

figure = px.scatter(x=[1, 2, 3], y=[4, 1, 9], title="Points", labels={"x": "week", "y": "sales"})
figure.add_trace(go.Scatter(x=[1, 3], y=[2, 8], mode="lines", name="trend"))
figure.update_layout(template="plotly_white")
figure.write_html("figure.html", include_plotlyjs=False)
print(len(figure.data), figure.layout.title.text, figure.to_json()[:8], "plotly" in open("figure.html").read())
