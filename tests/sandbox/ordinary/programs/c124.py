import pandas as pd
from tqdm import tqdm
tqdm.pandas(desc="rows")
print(pd.Series([1, 2, 3]).progress_apply(lambda v: v * 2).tolist())
