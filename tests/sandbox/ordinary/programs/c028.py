from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
X, y = load_digits(return_X_y=True)
a, b, c, d = train_test_split(X, y, random_state=0)
m = RandomForestClassifier(40, random_state=0, n_jobs=2).fit(a, c)
print(m.score(b, d) > 0.95)
