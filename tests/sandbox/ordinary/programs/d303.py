import io

import pandas as pd

raw = "id,joined,score\n1,2024-01-03,7\n2,,9\n3,2024-02-10,x\n3,2024-02-10,x\n"
frame = pd.read_csv(io.StringIO(raw), parse_dates=["joined"]).drop_duplicates()
frame["score"] = pd.to_numeric(frame.score, errors="coerce")
print(frame.dtypes.astype(str).to_dict())
print(frame.fillna({"score": frame.score.mean()}).score.tolist(), frame.joined.isna().sum())
