import csv
import random
import pandas as pd

random.seed(0)
with open("events.csv", "w", newline="") as fh:
    w = csv.writer(fh)
    w.writerow(["user", "event", "value", "country"])
    for _ in range(30_000):
        w.writerow([random.randrange(500), random.choice(["view", "click", "buy"]),
                    f"{random.expovariate(0.1):.2f}", random.choice(["FR", "DE", "US", ""])])

totals = pd.Series(dtype="float64")
seen = set()
chunks = 0
reader = pd.read_csv("events.csv", chunksize=8_000,
                     dtype={"user": "int32", "event": "category", "country": "string"}, keep_default_na=True)
for chunk in reader:
    chunks += 1
    seen.update(chunk["user"].unique().tolist())
    part = chunk.groupby("event", observed=True)["value"].sum()
    part.index = part.index.astype(str)
    totals = totals.add(part, fill_value=0)

print("chunks:", chunks, "users:", len(seen))
print(totals.round(2).sort_index().to_string())
full = pd.read_csv("events.csv", usecols=["event", "country"])
print(full["country"].value_counts(dropna=False).rename(lambda v: "missing" if pd.isna(v) else v).sort_index().to_dict())
