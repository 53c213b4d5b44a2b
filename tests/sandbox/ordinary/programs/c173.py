import pandas as pd, io
df = pd.read_csv(io.StringIO("a,b\n1,x\n2,\n"), dtype_backend="pyarrow"); print(df.dtypes.astype(str).tolist(), df.b.isna().sum())
for c in pd.read_csv(io.StringIO("n\n" + "\n".join(map(str, range(10)))), chunksize=4): print(len(c), end=" ")
df.to_html("t.html"); df.to_latex("t.tex") if False else None; df.to_markdown if True else None; print(df.to_string())
