from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from sklearn.datasets import make_moons
X, y = make_moons(120, noise=0.1, random_state=1)
g = GridSearchCV(SVC(), {"C": [0.1, 1, 10], "gamma": [0.5, 1]}, n_jobs=2, cv=3).fit(X, y)
print(g.best_score_ > 0.9, sorted(g.best_params_))
