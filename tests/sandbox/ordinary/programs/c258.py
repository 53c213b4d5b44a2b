import pandas as pd
s = pd.Series(["2024-01-05", "05/02/2024", None, "bad"]); print(pd.to_datetime(s, errors="coerce", format="mixed").isna().sum()); print(pd.Series(["a b", "c"]).str.split().explode().tolist(), pd.cut([1, 5, 9], 3, labels=["lo", "mid", "hi"]).tolist(), pd.get_dummies(["x", "y"]).shape, pd.json_normalize([{"a": {"b": 1}}]).columns.tolist())
