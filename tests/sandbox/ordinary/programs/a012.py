import matplotlib
matplotlib.use("Agg")
import seaborn as sns
from sklearn.datasets import load_iris

iris = load_iris(as_frame=True)
df = iris.frame.copy()
df["species"] = df["target"].map(dict(enumerate(iris.target_names)))
df = df.drop(columns="target")
df.columns = [c.replace(" (cm)", "").replace(" ", "_") for c in df.columns]

g = sns.pairplot(df, hue="species", vars=["sepal_length", "petal_length"], diag_kind="hist", height=2)
g.savefig("iris_pairs.png")

print(df.shape)
print(df.groupby("species").mean().round(3).to_string())
