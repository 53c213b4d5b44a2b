import io
import numpy as np
import pandas as pd
import matplotlib
matplotlib.use("Agg")
import seaborn as sns

rng = np.random.default_rng(5)
frames = []
for i, region in enumerate(["north", "south", "east", "west"]):
    days = pd.date_range("2024-03-01", periods=60)
    walk = 100 + np.cumsum(rng.normal(0.2 * i, 2, 60))
    frames.append(pd.DataFrame({"date": days, "region": region, "index": walk}))
long = pd.concat(frames, ignore_index=True)

g = sns.relplot(data=long, x="date", y="index", col="region", col_wrap=2, kind="line", height=2.5, aspect=1.6)
g.set_titles("{col_name}")
g.tick_params(axis="x", rotation=30)
buf = io.BytesIO()
g.figure.savefig(buf, format="png")

final = long.groupby("region")["index"].last()
print(final.round(2).sort_values(ascending=False).to_string())
print("axes:", len(g.axes.flat), "| image bytes > 0:", buf.getbuffer().nbytes > 0)
