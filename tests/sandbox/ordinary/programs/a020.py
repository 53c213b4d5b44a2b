import pandas as pd
import plotly.express as px

budget = pd.DataFrame(
    [
        ("Engineering", "Salaries", 820), ("Engineering", "Cloud", 210), ("Engineering", "Tools", 45),
        ("Marketing", "Ads", 300), ("Marketing", "Events", 80),
        ("Operations", "Rent", 150), ("Operations", "Utilities", 30),
    ],
    columns=["dept", "item", "kusd"],
)
sun = px.sunburst(budget, path=["dept", "item"], values="kusd")
tree = px.treemap(budget, path=[px.Constant("all"), "dept", "item"], values="kusd", color="kusd")

for label, fig in (("sunburst", sun), ("treemap", tree)):
    t = fig.data[0]
    print(label, "nodes:", len(t.labels), "roots:", sum(1 for p in t.parents if p == ""))

html = sun.to_html(full_html=False, include_plotlyjs=False)
print("fragment starts with div:", html.lstrip().startswith("<div"))
print(budget.groupby("dept")["kusd"].sum().sort_values(ascending=False).to_dict())
