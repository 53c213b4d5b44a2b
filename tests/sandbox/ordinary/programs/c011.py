import seaborn as sns
import pandas as pd
import matplotlib.pyplot as plt
df = pd.DataFrame({"day": ["Thu", "Fri", "Sat"] * 4, "bill": range(12), "tip": [1, 2, 3] * 4})
g = sns.catplot(df, x="day", y="bill", kind="box")
g.savefig("cat.png")
print(g.axes.shape)
