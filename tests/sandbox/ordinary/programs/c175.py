import pandas as pd
import matplotlib.pyplot as plt
df = pd.DataFrame({"a": [1, 3, 2], "b": [2, 2, 5]}); ax = df.plot.area(); ax.figure.savefig("a.png"); df.hist(); df.plot.scatter("a", "b"); plt.close("all")
print(df.style.highlight_max().to_html()[:6], pd.eval("1+2"), df.eval("a*b").tolist())
