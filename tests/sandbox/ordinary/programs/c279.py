from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.seasonal import seasonal_decompose
import numpy as np, pandas as pd, warnings
warnings.simplefilter("ignore"); s = pd.Series(np.sin(np.arange(48) * np.pi / 6) + np.arange(48) * 0.1, index=pd.date_range("2020-01", periods=48, freq="MS")); print(len(ARIMA(s, order=(1, 1, 0)).fit().forecast(3)), seasonal_decompose(s).seasonal[:2].round(2).tolist()); seasonal_decompose(s).plot().savefig("d.png")
