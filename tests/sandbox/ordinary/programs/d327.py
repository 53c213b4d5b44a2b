import numpy as np
import pandas as pd

scores = pd.DataFrame({"math": [90, 55, 72, 68], "art": [60, 88, 75, np.nan]}, index=["Ann", "Bob", "Cy", "Di"])
scores["mean"] = scores.mean(axis=1)
scores["grade"] = pd.cut(scores["mean"], [0, 60, 75, 101], labels=["C", "B", "A"], right=False)
print(scores)
print(scores.grade.value_counts().sort_index().to_dict(), scores["mean"].rank(ascending=False).tolist())
print(scores.melt(value_vars=["math", "art"], ignore_index=False).dropna().shape)
