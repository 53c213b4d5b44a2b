import pickle

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import train_test_split

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)

models = {
    "linear": LinearRegression(),
    "ridge": Ridge(alpha=0.5),
    "lasso": Lasso(alpha=0.1),
    "forest": RandomForestRegressor(n_estimators=100, max_depth=6, random_state=0, n_jobs=2),
}
results = {}
for name, m in models.items():
    m.fit(X_train, y_train)
    p = m.predict(X_test)
    results[name] = (r2_score(y_test, p), mean_absolute_error(y_test, p))
    print(f"{name:8s} R2={results[name][0]:.3f} MAE={results[name][1]:.2f}")

best = max(results, key=lambda k: results[k][0])
with open("best_model.pkl", "wb") as fh:
    pickle.dump(models[best], fh)
with open("best_model.pkl", "rb") as fh:
    restored = pickle.load(fh)
print("best:", best, "| same predictions:", np.allclose(restored.predict(X_test), models[best].predict(X_test)))
