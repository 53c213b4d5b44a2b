import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(11)
n = 800
df = pd.DataFrame({
    "age": rng.integers(18, 80, n).astype(float),
    "balance": rng.lognormal(8, 1, n),
    "plan": rng.choice(["basic", "plus", "pro"], n),
    "country": rng.choice(["FR", "DE", "IT", "ES"], n),
})
logit = 0.04 * (df["age"] - 45) + 1.2 * (df["plan"] == "basic") - 0.5
df["churn"] = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(int)
df.loc[rng.choice(n, 60, replace=False), "age"] = np.nan

num, cat = ["age", "balance"], ["plan", "country"]
pre = ColumnTransformer([
    ("num", Pipeline([("imp", SimpleImputer(strategy="median")), ("sc", StandardScaler())]), num),
    ("cat", OneHotEncoder(handle_unknown="ignore"), cat),
])
model = Pipeline([("pre", pre), ("gb", GradientBoostingClassifier(random_state=0))])

X_tr, X_te, y_tr, y_te = train_test_split(df[num + cat], df["churn"], random_state=1)
model.fit(X_tr, y_tr)
print(classification_report(y_te, model.predict(X_te), digits=2))
print(list(model.named_steps["pre"].get_feature_names_out()))
