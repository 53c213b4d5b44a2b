import numpy as np
import pandas as pd

rng = np.random.default_rng(71)
idx = pd.MultiIndex.from_product([["2022", "2023"], ["Q1", "Q2", "Q3", "Q4"], ["web", "shop"]], names=["year", "q", "channel"])
df = pd.DataFrame({"sales": rng.integers(50, 150, len(idx)), "cost": rng.integers(20, 80, len(idx))}, index=idx)

print(df.loc[("2023", "Q2")])
print(df.xs("web", level="channel")["sales"].unstack("q"))
margin = (df["sales"] - df["cost"]).groupby(level=["year", "channel"]).sum().unstack()
print(margin)

flat = df.reset_index()
pt = pd.pivot_table(flat, index="q", columns=["year", "channel"], values="sales", aggfunc="sum", margins=True)
print(pt.to_string())
melted = flat.melt(id_vars=["year", "q", "channel"], var_name="kind", value_name="amount")
print(melted.shape, int(melted.query("kind == 'cost' and channel == 'shop'")["amount"].sum()))
