from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingClassifier
from sklearn.datasets import make_regression, make_classification
X, y = make_regression(100, 4, random_state=0); print(GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y).score(X, y) > 0.3); X, y = make_classification(200, random_state=0); print(HistGradientBoostingClassifier(max_iter=10).fit(X, y).score(X, y) > 0.9)
