import joblib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split

digits = load_digits()
X_train, X_test, y_train, y_test = train_test_split(
    digits.data, digits.target, test_size=0.25, random_state=0, stratify=digits.target
)
rf = RandomForestClassifier(n_estimators=80, n_jobs=2, random_state=0)
rf.fit(X_train, y_train)

joblib.dump(rf, "digits_rf.joblib", compress=3)
loaded = joblib.load("digits_rf.joblib")

pred = loaded.predict(X_test)
assert np.array_equal(pred, rf.predict(X_test))
print("accuracy: %.3f" % accuracy_score(y_test, pred))
print(confusion_matrix(y_test, pred))
print("top pixels:", sorted(np.argsort(loaded.feature_importances_)[-5:].tolist()))
