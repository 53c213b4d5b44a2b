import base64
import io
import numpy as np
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt


def fig_to_data_uri(fig):
    buf = io.BytesIO()
    fig.savefig(buf, format="png", bbox_inches="tight")
    buf.seek(0)
    return "data:image/png;base64," + base64.b64encode(buf.read()).decode("ascii")


rng = np.random.default_rng(0)
data = {name: rng.normal(mu, 1.0, 200) for name, mu in [("A", 0), ("B", 1), ("C", 2.5)]}

fig, ax = plt.subplots()
for name, values in data.items():
    ax.hist(values, bins=25, alpha=0.5, label=name)
ax.legend()
uri = fig_to_data_uri(fig)

html = f"<html><body><h1>Report</h1><img src='{uri}'/></body></html>"
with open("report.html", "w", encoding="utf-8") as fh:
    fh.write(html)

raw = base64.b64decode(uri.split(",", 1)[1])
print("PNG signature ok:", raw[:8] == b"\x89PNG\r\n\x1a\n")
for name, values in data.items():
    print(name, round(values.mean(), 3), round(values.std(ddof=1), 3))
