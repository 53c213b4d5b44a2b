import numpy as np
import pandas as pd
import statsmodels.api as sm

np.random.seed(12)
n = 500
hours = np.random.uniform(0, 10, n)
sleep = np.random.normal(7, 1, n)
p = 1 / (1 + np.exp(-(-4 + 0.6 * hours + 0.2 * sleep)))
passed = np.random.binomial(1, p)

X = sm.add_constant(pd.DataFrame({"hours": hours, "sleep": sleep}))
res = sm.Logit(passed, X).fit(disp=0)

print(res.summary().tables[1])
print("odds ratios:")
print(np.exp(res.params).round(3).to_string())
print("pseudo R2: %.4f" % res.prsquared)
tab = res.pred_table()
print("accuracy: %.3f" % (np.trace(tab) / tab.sum()))
