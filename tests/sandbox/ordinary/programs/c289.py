import matplotlib as mpl, matplotlib.pyplot as plt
mpl.rcParams.update({"font.family": ["Helvetica Neue", "sans-serif"], "axes.unicode_minus": False}); fig, ax = plt.subplots(); ax.plot([-1, 1]); ax.set_title("Größe 漢字"); fig.savefig("u.png", dpi=50, bbox_inches="tight", transparent=True); print(mpl.get_backend().lower(), mpl.matplotlib_fname() != "", mpl.get_cachedir() != "")
