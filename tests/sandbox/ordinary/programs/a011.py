import numpy as np
import pandas as pd
import seaborn as sns
import matplotlib.pyplot as plt

np.random.seed(1)
base = np.random.randn(300)
df = pd.DataFrame({
    "height": 170 + 10 * base,
    "weight": 70 + 8 * base + 5 * np.random.randn(300),
    "age": np.random.randint(18, 70, 300),
    "income": 40_000 + 5_000 * np.random.randn(300),
})
df["bmi"] = df["weight"] / (df["height"] / 100) ** 2

corr = df.corr()
mask = np.triu(np.ones_like(corr, dtype=bool))

plt.figure(figsize=(7, 6))
sns.heatmap(corr, mask=mask, cmap="coolwarm", center=0, annot=True, fmt=".2f", square=True)
plt.title("Correlation matrix")
plt.tight_layout()
plt.savefig("corr.png")

pairs = corr.where(~mask).stack().sort_values(ascending=False)
print("Strongest correlations:")
for (a, b), v in pairs.head(3).items():
    print(f"  {a} ~ {b}: {v:.3f}")
