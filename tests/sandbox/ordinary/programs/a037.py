import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay, roc_auc_score
from sklearn.model_selection import train_test_split

X, y = make_classification(n_samples=1000, n_features=15, n_informative=5, weights=[0.8], random_state=5)
Xtr, Xte, ytr, yte = train_test_split(X, y, stratify=y, random_state=5)

fig, (ax_roc, ax_cm) = plt.subplots(1, 2, figsize=(11, 5))
for est in (LogisticRegression(max_iter=500), RandomForestClassifier(50, random_state=0)):
    est.fit(Xtr, ytr)
    RocCurveDisplay.from_estimator(est, Xte, yte, ax=ax_roc)
    auc = roc_auc_score(yte, est.predict_proba(Xte)[:, 1])
    print(f"{type(est).__name__}: AUC={auc:.3f}")

disp = ConfusionMatrixDisplay.from_estimator(est, Xte, yte, ax=ax_cm, cmap="Blues")
plt.savefig("evaluation.png", dpi=90)
print("confusion matrix:", disp.confusion_matrix.tolist())
