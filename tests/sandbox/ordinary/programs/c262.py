import numpy as np
from numpy.lib.stride_tricks import sliding_window_view as w
print(w(np.arange(6), 3).mean(axis=1), np.histogram([1, 2, 2, 3], bins=3)[0], np.unique([3, 1, 3], return_counts=True)[1], np.percentile(range(101), 90), np.linalg.eigvalsh([[2, 1], [1, 2]]), np.busday_count("2024-01-01", "2024-02-01"), np.datetime64("2024-02-29") + 1, np.ma.masked_less([1, 5], 3).sum())
