import io

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.gridspec import GridSpec

x, y = np.meshgrid(np.linspace(-3, 3, 80), np.linspace(-3, 3, 80))
z = 3 * (1 - x) ** 2 * np.exp(-x**2 - (y + 1) ** 2) \
    - 10 * (x / 5 - x**3 - y**5) * np.exp(-x**2 - y**2) \
    - 1 / 3 * np.exp(-(x + 1) ** 2 - y**2)

fig = plt.figure(figsize=(10, 5))
gs = GridSpec(1, 3, figure=fig)
ax3d = fig.add_subplot(gs[0, :2], projection="3d")
ax3d.plot_surface(x, y, z, cmap="viridis", linewidth=0)
axc = fig.add_subplot(gs[0, 2])
cs = axc.contour(x, y, z, levels=10)
axc.clabel(cs, inline=True, fontsize=7)

buffer = io.BytesIO()
fig.savefig(buffer, format="png")
print("png larger than 10 kB:", buffer.tell() > 10_000)
i = np.unravel_index(np.argmax(z), z.shape)
print("peak at (%.2f, %.2f) height %.3f" % (x[i], y[i], z[i]))
print("contour levels:", cs.levels.tolist())
