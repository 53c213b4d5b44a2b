import plotly.graph_objects as go

flows = [
    ("Solar", "Grid", 40), ("Wind", "Grid", 55), ("Gas", "Grid", 90), ("Gas", "Heating", 35),
    ("Grid", "Homes", 80), ("Grid", "Industry", 85), ("Grid", "Losses", 20), ("Heating", "Homes", 35),
]
nodes = []
for src, dst, _ in flows:
    for n in (src, dst):
        if n not in nodes:
            nodes.append(n)
idx = {n: i for i, n in enumerate(nodes)}

fig = go.Figure(go.Sankey(
    node=dict(label=nodes, pad=15, thickness=20),
    link=dict(source=[idx[s] for s, _, _ in flows],
              target=[idx[d] for _, d, _ in flows],
              value=[v for *_, v in flows]),
))
fig.update_layout(title_text="Energy flows (TWh)", font_size=11)
fig.write_html("sankey.html", auto_open=False, include_plotlyjs="directory")

for n in nodes:
    inflow = sum(v for _, d, v in flows if d == n)
    outflow = sum(v for s, _, v in flows if s == n)
    print(f"{n:9s} in={inflow:4d} out={outflow:4d}")
