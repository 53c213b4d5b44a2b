import matplotlib.pyplot as plt
import io
buf = io.BytesIO()
fig = plt.figure()
ax = fig.add_subplot(projection="3d")
import numpy as np
X, Y = np.meshgrid(np.arange(-2, 2, 0.5), np.arange(-2, 2, 0.5))
ax.plot_surface(X, Y, X**2 - Y**2, cmap="viridis")
fig.savefig(buf, format="png")
print(buf.getvalue()[:4])
