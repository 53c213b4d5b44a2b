from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, MinMaxScaler
import pandas as pd
df = pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "t": [30.0, 10.0, 28.0]})
ct = ColumnTransformer([("c", OneHotEncoder(), ["city"]), ("n", MinMaxScaler(), ["t"])])
print(ct.fit_transform(df).round(2).tolist())
print(ct.get_feature_names_out().tolist())
