from joblib import Parallel, delayed, dump, load
import numpy as np
dump(np.arange(1000), "a.pkl")
a = load("a.pkl", mmap_mode="r")
print(Parallel(n_jobs=2, backend="threading")(delayed(lambda s: int(a[s].sum()))(slice(i, i + 10)) for i in (0, 10)))
