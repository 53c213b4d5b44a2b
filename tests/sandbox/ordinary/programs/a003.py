import pandas as pd
import numpy as np
import matplotlib.pyplot as plt

np.random.seed(42)
months = pd.date_range("2023-01-01", periods=12, freq="MS")
df = pd.DataFrame({
    "month": months,
    "revenue": np.random.randint(80, 200, 12) * 1000,
    "orders": np.random.randint(300, 900, 12),
    "returns": np.random.randint(5, 60, 12),
})
df["aov"] = df["revenue"] / df["orders"]

plt.style.use("ggplot")
fig, axes = plt.subplots(2, 2, figsize=(12, 8), sharex=True)
axes[0, 0].bar(df["month"], df["revenue"] / 1000, width=20)
axes[0, 0].set_title("Revenue (k$)")
axes[0, 1].plot(df["month"], df["orders"], marker="o")
axes[0, 1].set_title("Orders")
axes[1, 0].fill_between(df["month"], df["returns"], alpha=0.4)
axes[1, 0].set_title("Returns")
axes[1, 1].step(df["month"], df["aov"], where="mid")
axes[1, 1].set_title("Average order value")
fig.autofmt_xdate()
fig.suptitle("Sales dashboard 2023")
plt.tight_layout()
plt.savefig("dashboard.pdf")

best = df.loc[df["revenue"].idxmax()]
print("Best month:", best["month"].strftime("%B"), "revenue", int(best["revenue"]))
print("Total orders:", df["orders"].sum())
print(df[["revenue", "orders", "returns", "aov"]].describe().round(1).to_string())
