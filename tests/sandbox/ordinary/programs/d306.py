import matplotlib.pyplot as plt
import pandas as pd

frame = pd.DataFrame({"year": range(2018, 2024), "sales": [3, 4, 4, 6, 7, 9], "costs": [2, 3, 3, 4, 5, 5]})
axes = frame.plot(x="year", y=["sales", "costs"], kind="area", stacked=False, alpha=0.5)
axes.annotate("record", xy=(2023, 9), xytext=(2020, 8), arrowprops={"arrowstyle": "->"})
axes.figure.savefig("sales.svg")
axes.figure.savefig("sales.pdf")
print("<svg" in open("sales.svg").read(), open("sales.pdf", "rb").read(4), axes.get_xlabel())
plt.close("all")
