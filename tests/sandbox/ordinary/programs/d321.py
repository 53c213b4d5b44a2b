import seaborn as sns
import pandas as pd
import matplotlib.pyplot as plt

tips = pd.DataFrame({"day": ["Sat", "Sun"] * 10, "bill": range(10, 30), "tip": [n % 5 + 1 for n in range(20)]})
sns.set_theme(style="whitegrid")
axes = sns.boxplot(data=tips, x="day", y="tip")
axes.figure.savefig("tips.png")
plt.close("all")
grid = sns.FacetGrid(tips, col="day").map(sns.scatterplot, "bill", "tip")
grid.savefig("facets.png")
print([label.get_text() for label in axes.get_xticklabels()], grid.axes.shape, len(sns.color_palette("deep")))
