import os

import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
n = 50_000
df = pd.DataFrame({
    "ts": pd.date_range("2024-01-01", periods=n, freq="min"),
    "sensor": pd.Categorical(rng.choice(["a", "b", "c"], n)),
    "value": rng.normal(size=n).round(3),
    "ok": rng.random(n) > 0.1,
})

sizes = {}
for codec in ["snappy", "gzip", "zstd", None]:
    name = f"data_{codec or 'plain'}.parquet"
    df.to_parquet(name, engine="pyarrow", compression=codec, index=False)
    back = pd.read_parquet(name)
    pd.testing.assert_frame_equal(df, back)
    sizes[codec or "plain"] = os.path.getsize(name)

print("all round trips equal")
print("plain is largest:", max(sizes, key=sizes.get) == "plain")
only = pd.read_parquet("data_zstd.parquet", columns=["sensor", "value"], filters=[("ok", "==", True)])
print(only.groupby("sensor", observed=True)["value"].agg(["count", "mean"]).round(4))
