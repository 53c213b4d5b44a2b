import numpy as np
import statsmodels.api as sm
import statsmodels.formula.api as smf
import pandas as pd

rng = np.random.default_rng(11)
data = pd.DataFrame({"ads": rng.uniform(0, 10, 60), "store": rng.choice(["a", "b"], 60)})
data["sales"] = 5 + 2 * data.ads + (data.store == "b") * 3 + rng.normal(0, 0.5, 60)
fit = smf.ols("sales ~ ads + store", data).fit()
print(fit.params.round(0).to_dict(), fit.rsquared > 0.98, fit.nobs)
print(sm.OLS([1, 2, 3], sm.add_constant([1, 2, 3])).fit().params.round(6))
