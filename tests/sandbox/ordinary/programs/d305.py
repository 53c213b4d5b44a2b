import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 2 * np.pi, 100)
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3))
left.plot(x, np.sin(x), label="sin")
left.plot(x, np.cos(x), "--", label="cos")
left.legend()
right.bar(["tea", "coffee"], [12, 30], color="tab:orange")
right.set_title("Sales")
fig.tight_layout()
fig.savefig("report.png", dpi=72)
print(open("report.png", "rb").read(8), len(left.lines), right.get_title())
