import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

sns.set_context("talk", font_scale=0.7)
rng = np.random.default_rng(99)
groups = ["control", "drug_a", "drug_b"]
rows = [(g, v) for g, mu in zip(groups, [5, 6, 7.5]) for v in rng.normal(mu, 1.2, 50)]
df = pd.DataFrame(rows, columns=["group", "response"])
df["responder"] = np.where(df["response"] > 6.5, "yes", "no")

fig, axes = plt.subplots(1, 3, figsize=(15, 4))
sns.violinplot(data=df, x="group", y="response", ax=axes[0], inner="quart")
sns.stripplot(data=df, x="group", y="response", ax=axes[1], jitter=0.2, alpha=0.6)
sns.countplot(data=df, x="group", hue="responder", hue_order=["no", "yes"], ax=axes[2])
for ax, title in zip(axes, ["violin", "strip", "responders"]):
    ax.set_title(title)
fig.tight_layout()
fig.savefig("trial.png")

print(pd.crosstab(df["group"], df["responder"]))
