from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

X, y = load_iris(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=42, stratify=y)
model = RandomForestClassifier(n_estimators=30, random_state=42).fit(X_train, y_train)
print(round(model.score(X_test, y_test), 2) >= 0.85, model.feature_importances_.argmax() in (2, 3))
print(len(X_train), len(X_test), model.classes_)
