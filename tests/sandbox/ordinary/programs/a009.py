import os
import pandas as pd
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

OUT = "charts"
os.makedirs(OUT, exist_ok=True)

share = pd.Series({"Chrome": 63.4, "Safari": 20.1, "Edge": 5.2, "Firefox": 3.0, "Other": 8.3})

with plt.style.context("dark_background"):
    fig, ax = plt.subplots()
    ax.pie(share, labels=share.index, autopct="%1.1f%%", startangle=90)
    fig.savefig(os.path.join(OUT, "pie.png"))

fig, ax = plt.subplots()
bars = ax.barh(share.index, share.values)
ax.bar_label(bars, fmt="%.1f")
ax.invert_yaxis()
fig.savefig(os.path.join(OUT, "bar.jpg"))

fig, ax1 = plt.subplots()
ax1.bar(share.index, share)
ax2 = ax1.twinx()
ax2.plot(share.index, share.cumsum(), "r-o")
ax2.set_ylim(0, 110)
fig.savefig(os.path.join(OUT, "pareto.svg"))
plt.close("all")

for f in sorted(os.listdir(OUT)):
    print(f, "ok" if os.path.getsize(os.path.join(OUT, f)) > 0 else "empty")
print(share.cumsum().round(1).to_dict())
