from matplotlib.backends.backend_pdf import PdfPages
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(123)
distributions = {
    "normal": rng.normal(size=1000),
    "exponential": rng.exponential(size=1000),
    "uniform": rng.uniform(-1, 1, size=1000),
    "poisson": rng.poisson(4, size=1000),
}

with PdfPages("distributions.pdf") as pdf:
    for name, sample in distributions.items():
        fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
        left.hist(sample, bins=30, color="steelblue", edgecolor="white")
        left.set_title(f"{name} histogram")
        right.boxplot(sample)
        right.set_title("box plot")
        pdf.savefig(fig)
        plt.close(fig)
    pages = pdf.get_pagecount()
    pdf.infodict()["Title"] = "Distribution samples"

print("pages written:", pages)
for name, s in distributions.items():
    print(f"{name:12s} mean={s.mean():7.3f} var={s.var():7.3f}")
