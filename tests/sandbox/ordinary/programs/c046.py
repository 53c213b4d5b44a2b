import statsmodels.api as sm
import numpy as np
x = np.arange(20.0); y = 3 * x + 1 + np.sin(x)
fit = sm.OLS(y, sm.add_constant(x)).fit()
print(fit.params.round(2), round(fit.rsquared, 3))
