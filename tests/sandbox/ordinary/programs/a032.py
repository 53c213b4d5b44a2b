from sklearn import datasets, svm
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

X, y = datasets.load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=7)

pipe = Pipeline([("scale", StandardScaler()), ("pca", PCA(random_state=0)), ("svc", svm.SVC())])
grid = {
    "pca__n_components": [3, 8],
    "svc__C": [0.1, 1],
    "svc__kernel": ["linear", "rbf"],
}
search = GridSearchCV(pipe, grid, cv=3, n_jobs=2, scoring="balanced_accuracy")
search.fit(X_train, y_train)

print("candidates:", len(search.cv_results_["params"]))
print("best cv score: %.3f" % search.best_score_)
print("best params:", dict(sorted(search.best_params_.items())))
print("held-out accuracy: %.3f" % (search.best_estimator_.predict(X_test) == y_test).mean())
