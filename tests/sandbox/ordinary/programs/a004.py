import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib import font_manager as fm
from pathlib import Path

families = sorted({f.name for f in fm.fontManager.ttflist})
print("DejaVu Sans available:", "DejaVu Sans" in families)
print("ggplot style available:", "ggplot" in plt.style.available)

prop = fm.FontProperties(family="DejaVu Serif", size=14, weight="bold")
plt.rcParams["font.family"] = "sans-serif"
plt.rcParams["font.sans-serif"] = ["Arial", "Helvetica", "DejaVu Sans"]
plt.rcParams["mathtext.fontset"] = "cm"

fig = plt.figure(figsize=(6, 3))
fig.text(0.1, 0.7, "Serif bold heading", fontproperties=prop)
fig.text(0.1, 0.4, r"$\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}$", fontsize=18)
fig.text(0.1, 0.15, "Accents: éàü ñ ß Ω", fontsize=12)
fig.savefig("fonts.svg")

svg = Path("fonts.svg").read_text()
print("is svg:", "<svg" in svg)
print("font path resolves:", Path(fm.findfont("DejaVu Sans")).suffix)
