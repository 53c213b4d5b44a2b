import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.formula.api import ols
from statsmodels.stats.multicomp import pairwise_tukeyhsd

rng = np.random.default_rng(9)
rows = []
for fert, f_eff in {"none": 0, "organic": 2.0, "mineral": 3.0}.items():
    for water, w_eff in {"low": 0, "high": 1.5}.items():
        for v in rng.normal(20 + f_eff + w_eff, 1.5, 12):
            rows.append({"fert": fert, "water": water, "yield_": v})
plants = pd.DataFrame(rows)

fit = ols("yield_ ~ C(fert) * C(water)", data=plants).fit()
print(sm.stats.anova_lm(fit, typ=2).round(3).to_string())
print()
print(pairwise_tukeyhsd(plants["yield_"], plants["fert"], alpha=0.05))
