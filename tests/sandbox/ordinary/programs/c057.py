import polars as pl
import numpy as np
df = pl.from_numpy(np.arange(6).reshape(3, 2), schema=["a", "b"])
print(df.to_pandas().sum().to_dict(), df.describe().shape)
