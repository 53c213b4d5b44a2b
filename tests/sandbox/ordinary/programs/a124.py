import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from sklearn.datasets import load_wine
from sklearn.ensemble import IsolationForest

wine = load_wine(as_frame=True)
df = wine.frame
print(df.shape, "missing:", int(df.isna().sum().sum()))

corr = df.drop(columns="target").corr().abs()
print("most correlated with flavanoids:", corr["flavanoids"].drop("flavanoids").nlargest(3).round(2).to_dict())

q1, q3 = df["malic_acid"].quantile([0.25, 0.75])
iqr = q3 - q1
print("IQR outliers in malic_acid:", int(((df["malic_acid"] < q1 - 1.5 * iqr) | (df["malic_acid"] > q3 + 1.5 * iqr)).sum()))

iso = IsolationForest(contamination=0.05, random_state=0).fit(df.drop(columns="target"))
df["outlier"] = iso.predict(df.drop(columns="target")) == -1
print(pd.crosstab(df["target"], df["outlier"]))

sns.scatterplot(data=df, x="alcohol", y="color_intensity", hue="target", style="outlier", palette="deep")
plt.savefig("eda.png", dpi=100)
