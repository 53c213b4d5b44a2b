import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

rng = np.random.default_rng(55)
n = 200
df = pd.DataFrame({
    "sqft": rng.normal(1500, 400, n),
    "bedrooms": rng.integers(1, 6, n),
    "area": rng.choice(["urban", "suburb", "rural"], n),
})
df["price"] = (
    50_000 + 120 * df["sqft"] + 8_000 * df["bedrooms"]
    + df["area"].map({"urban": 60_000, "suburb": 25_000, "rural": 0})
    + rng.normal(0, 20_000, n)
)

model = smf.ols("price ~ sqft + bedrooms + C(area, Treatment('rural'))", data=df).fit()
print(model.params.round(1).to_string())
print("R2: %.4f  adj R2: %.4f  AIC: %.1f" % (model.rsquared, model.rsquared_adj, model.aic))
print(model.conf_int().round(0).to_string())
