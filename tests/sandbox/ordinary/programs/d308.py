from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
import pandas as pd

people = pd.DataFrame({"age": [22, 35, 58, 44, 30, 61], "city": list("ABABBA"), "bought": [0, 0, 1, 1, 0, 1]})
prepare = ColumnTransformer([("age", StandardScaler(), ["age"]), ("city", OneHotEncoder(), ["city"])])
model = make_pipeline(prepare, LogisticRegression()).fit(people[["age", "city"]], people.bought)
print(model.predict(pd.DataFrame({"age": [20, 70], "city": ["A", "B"]})), list(model.named_steps))
