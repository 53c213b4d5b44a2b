import pyarrow as pa
import pandas as pd
df = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=3, tz="Europe/Paris"), "c": pd.Categorical(["a", "b", "a"])})
t = pa.Table.from_pandas(df)
print(t.schema.field("t").type, t.to_pandas().equals(df))
