import seaborn as sns
import numpy as np, pandas as pd
sns.set_theme(style="whitegrid", context="talk")
rng = np.random.default_rng(0)
df = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
grid = sns.pairplot(df)
grid.figure.savefig("pairs.png", dpi=40)
print(len(grid.axes))
