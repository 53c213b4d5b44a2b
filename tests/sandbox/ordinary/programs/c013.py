import seaborn as sns
import pandas as pd
df = pd.DataFrame({"x": range(10), "y": [i * 2 + (i % 3) for i in range(10)]})
ax = sns.regplot(data=df, x="x", y="y", ci=None)
ax.figure.savefig("reg.png")
print(ax.get_xlabel(), ax.get_ylabel())
