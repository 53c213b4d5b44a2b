import seaborn as sns, pandas as pd
df = pd.DataFrame({"v": [1, 2, 2, 3, 3, 3, 4, 4, 5] * 3, "g": list("xyz") * 9})
g = sns.displot(df, x="v", hue="g", kind="kde", fill=True)
g.savefig("kde.svg")
print(sorted(t.get_text() for t in g.legend.texts))
