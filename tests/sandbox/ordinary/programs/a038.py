import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_regression
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import SGDRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler


class Clipper(BaseEstimator, TransformerMixin):
    def __init__(self, q=0.01):
        self.q = q

    def fit(self, X, y=None):
        self.lo_ = np.quantile(X, self.q, axis=0)
        self.hi_ = np.quantile(X, 1 - self.q, axis=0)
        return self

    def transform(self, X):
        return np.clip(X, self.lo_, self.hi_)


X, y = make_regression(n_samples=2000, n_features=30, n_informative=6, noise=10, random_state=0)
prep = Pipeline([("clip", Clipper(0.02)), ("scale", StandardScaler()), ("best", SelectKBest(f_regression, k=6))])
Z = prep.fit_transform(X, y)
print("selected columns:", prep["best"].get_support(indices=True).tolist())

sgd = SGDRegressor(random_state=0)
for i, start in enumerate(range(0, 1500, 300)):
    sgd.partial_fit(Z[start:start + 300], y[start:start + 300])
    print(f"batch {i}: R2 on holdout = {sgd.score(Z[1500:], y[1500:]):.3f}")
