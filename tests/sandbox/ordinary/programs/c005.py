import matplotlib.pyplot as plt
print(len(plt.style.available) > 10)
with plt.style.context("ggplot"):
    fig, axes = plt.subplots(2, 2, sharex=True)
    for ax, c in zip(axes.flat, "rgbk"):
        ax.plot([1, 2, 3], color=c)
    fig.tight_layout()
    fig.savefig("grid.png", dpi=60)
print(fig.get_size_inches().tolist())
