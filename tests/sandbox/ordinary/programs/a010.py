import matplotlib
matplotlib.use("Agg")
import numpy as np
import pandas as pd
import seaborn as sns
import matplotlib.pyplot as plt

rng = np.random.default_rng(10)
n = 240
tips = pd.DataFrame({
    "day": rng.choice(["Thu", "Fri", "Sat", "Sun"], n),
    "smoker": rng.choice(["Yes", "No"], n, p=[0.4, 0.6]),
    "total_bill": rng.gamma(4, 5, n).round(2),
})
tips["tip"] = (tips["total_bill"] * rng.normal(0.16, 0.03, n)).clip(lower=1).round(2)

sns.set_theme(style="whitegrid", palette="pastel")
ax = sns.boxplot(data=tips, x="day", y="total_bill", hue="smoker", order=["Thu", "Fri", "Sat", "Sun"])
sns.despine(offset=10, trim=True)
ax.figure.savefig("tips_box.png", dpi=100)

summary = tips.groupby(["day", "smoker"])["tip"].agg(["count", "mean"]).round(2)
print(summary)
