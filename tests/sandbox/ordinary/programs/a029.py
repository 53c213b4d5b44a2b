from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
clf = make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=1000))
cv = StratifiedKFold(n_splits=4, shuffle=True, random_state=42)

res = cross_validate(clf, X, y, cv=cv, scoring=["accuracy", "roc_auc", "f1"], n_jobs=2)
for metric in ("accuracy", "roc_auc", "f1"):
    scores = res[f"test_{metric}"]
    print(f"{metric:9s} {scores.mean():.3f} +/- {scores.std():.3f}")
