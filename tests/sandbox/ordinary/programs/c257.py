import pandas as pd
a = pd.DataFrame({"k": [1, 2, 3], "x": list("abc")}); b = pd.DataFrame({"k": [2, 3, 4], "y": list("def")})
print(a.merge(b, how="outer", on="k", indicator=True)); print(pd.concat([a, a]).drop_duplicates().shape, pd.crosstab(a.x, a.k).values.trace(), a.pivot(index="k", columns="x", values="x").fillna("-").to_string())
