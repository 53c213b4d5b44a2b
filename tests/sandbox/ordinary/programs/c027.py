import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
X, y = load_iris(return_X_y=True)
s = cross_val_score(LogisticRegression(max_iter=500), X, y, cv=5)
print(round(s.mean(), 2))
