import plotly.graph_objects as go
fig = go.Figure(go.Sankey(node=dict(label=["A", "B", "C"]), link=dict(source=[0, 0], target=[1, 2], value=[5, 3])))
fig.write_json("sankey.json")
import json
print(json.load(open("sankey.json"))["data"][0]["type"])
