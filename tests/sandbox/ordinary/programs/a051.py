import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf

rng = np.random.default_rng(100)
n = 300
d = pd.DataFrame({"temp": rng.uniform(5, 35, n), "weekend": rng.integers(0, 2, n), "hours": rng.uniform(4, 12, n)})
d["visits"] = rng.poisson(d["hours"] * np.exp(0.2 + 0.03 * d["temp"] + 0.4 * d["weekend"]))

glm = smf.glm("visits ~ temp + weekend", data=d, offset=np.log(d["hours"]), family=sm.families.Poisson()).fit()
print(glm.params.round(3).to_string())
print("deviance/df: %.2f" % (glm.deviance / glm.df_resid))

x = np.linspace(0, 10, 50)
y = 1 + 2 * x + rng.normal(0, 0.5, 50)
y[::10] += 25
X = sm.add_constant(x)
print("OLS slope/intercept:", sm.OLS(y, X).fit().params.round(2).tolist())
print("RLM slope/intercept:", sm.RLM(y, X, M=sm.robust.norms.HuberT()).fit().params.round(2).tolist())
