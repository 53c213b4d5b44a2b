from statsmodels.tsa.holtwinters import ExponentialSmoothing
import numpy as np, warnings
warnings.simplefilter("ignore")
y = np.array([10, 12, 13, 12, 15, 17, 16, 18, 20, 21.0])
f = ExponentialSmoothing(y, trend="add").fit()
print(f.forecast(2).shape)
