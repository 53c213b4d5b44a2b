import numpy as np
import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot as plt

vegetables = ["cucumber", "tomato", "lettuce", "asparagus", "potato"]
farmers = ["Joe", "Upland", "Smith", "Agrifun", "Organiculture"]
rng = np.random.RandomState(7)
harvest = np.round(rng.gamma(2.0, 1.5, size=(5, 5)), 1)

fig, ax = plt.subplots(constrained_layout=True)
im = ax.imshow(harvest, cmap="YlGn")
fig.colorbar(im, ax=ax, label="tonnes/year")
ax.set_xticks(range(len(farmers)), labels=farmers, rotation=45, ha="right")
ax.set_yticks(range(len(vegetables)), labels=vegetables)
for i in range(5):
    for j in range(5):
        ax.text(j, i, harvest[i, j], ha="center", va="center",
                color="white" if harvest[i, j] > harvest.max() / 2 else "black")
fig.savefig("harvest.png", transparent=True, dpi=80)

totals = harvest.sum(axis=1)
for veg, tot in sorted(zip(vegetables, totals), key=lambda p: -p[1]):
    print(f"{veg:<12}{tot:6.1f}")
