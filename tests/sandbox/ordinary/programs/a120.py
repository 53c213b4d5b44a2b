import numpy as np
import pandas as pd

rng = np.random.default_rng(1234)
n = 500
survey = pd.DataFrame({
    "age": rng.integers(16, 85, n),
    "income": np.round(rng.lognormal(10.3, 0.5, n), -2),
    "rating": rng.choice(["bad", "ok", "good"], n, p=[0.2, 0.5, 0.3]),
})
survey["rating"] = pd.Categorical(survey["rating"], categories=["bad", "ok", "good"], ordered=True)
survey["age_band"] = pd.cut(survey["age"], [15, 25, 40, 60, 90], labels=["16-25", "26-40", "41-60", "61+"])
survey["income_q"] = pd.qcut(survey["income"], 4, labels=["Q1", "Q2", "Q3", "Q4"])

print(survey["age_band"].value_counts(sort=False).to_string())
print(pd.crosstab(survey["age_band"], survey["rating"], normalize="index").round(2).to_string())
print(survey.groupby("income_q", observed=True)["income"].agg(["min", "max", "median"]).astype(int))
print("at least ok:", int((survey["rating"] >= "ok").sum()))
dummies = pd.get_dummies(survey["age_band"], prefix="age", dtype=int)
print(dummies.sum().to_dict())
