import hashlib
import sys

import pandas as pd
from tqdm import tqdm

tqdm.pandas(desc="hashing", file=sys.stderr, mininterval=0.5)

df = pd.DataFrame({"user": [f"user{i:03d}" for i in range(300)], "score": [(i * 17) % 101 for i in range(300)]})
df["digest"] = df["user"].progress_apply(lambda u: hashlib.sha256(u.encode()).hexdigest()[:8])
df["bucket"] = df["digest"].str[0]

stats = df.groupby("bucket").progress_apply(lambda g: g["score"].mean())
print(df.head(3).to_string(index=False))
print("buckets:", df["bucket"].nunique())
print(stats.round(1).head(4).to_dict())
print("unique digests:", df["digest"].is_unique)
