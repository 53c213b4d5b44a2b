import statsmodels.formula.api as smf
import pandas as pd
df = pd.DataFrame({"y": [1, 3, 2, 5, 4, 6], "x": [1, 2, 3, 4, 5, 6], "g": list("ababab")})
print(smf.ols("y ~ x + C(g)", df).fit().params.round(3).to_dict())
