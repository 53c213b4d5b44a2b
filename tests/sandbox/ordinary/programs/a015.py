import warnings
warnings.filterwarnings("ignore")
import numpy as np
import pandas as pd
import matplotlib
matplotlib.use("Agg")
import seaborn as sns
import matplotlib.pyplot as plt

rng = np.random.default_rng(2024)
x = rng.uniform(0, 100, 150)
df = pd.DataFrame({"ad_spend": x, "sales": 3.2 * x + 40 + rng.normal(0, 25, 150)})

sns.set_style("ticks")
palette = sns.color_palette("viridis", 4)
print("palette:", palette.as_hex())

fig, ax = plt.subplots(1, 2, figsize=(10, 4))
sns.regplot(data=df, x="ad_spend", y="sales", ax=ax[0], color=palette[0], n_boot=100, seed=0)
sns.kdeplot(data=df, x="sales", fill=True, ax=ax[1], color=palette[2])
fig.savefig("reg.png")

j = sns.jointplot(data=df, x="ad_spend", y="sales", kind="hex", height=4)
j.savefig("joint.png")

slope, intercept = np.polyfit(df["ad_spend"], df["sales"], 1)
print(f"sales = {slope:.3f} * ad_spend + {intercept:.3f}")
