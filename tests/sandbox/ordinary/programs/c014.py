import seaborn as sns
import pandas as pd
m = pd.DataFrame([[1, .3, .1], [.3, 1, .5], [.1, .5, 1]], columns=list("abc"), index=list("abc"))
ax = sns.heatmap(m, annot=True, cmap=sns.diverging_palette(220, 20, as_cmap=True))
ax.get_figure().savefig("corr.png")
print([t.get_text() for t in ax.texts])
