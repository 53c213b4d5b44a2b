import pandas as pd
df = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=60), "v": range(60)})
print(df.resample("ME", on="d").v.sum().tolist(), df.set_index("d").rolling("7D").v.mean().iloc[-1])
df.to_parquet("d.parquet"); df.to_feather("d.feather"); df.to_pickle("d.pkl.gz"); df.to_stata("d.dta"); print(len(pd.read_stata("d.dta")), pd.read_pickle("d.pkl.gz").equals(df))
