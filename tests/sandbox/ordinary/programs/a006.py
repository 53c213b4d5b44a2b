import numpy as np
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter
from PIL import Image

x = np.linspace(0, 2 * np.pi, 200)
fig, ax = plt.subplots(figsize=(4, 3))
(line,) = ax.plot(x, np.sin(x))
ax.set_ylim(-1.2, 1.2)


def update(frame):
    line.set_ydata(np.sin(x + frame / 10 * 2 * np.pi))
    ax.set_title(f"frame {frame}")
    return (line,)


anim = FuncAnimation(fig, update, frames=10, interval=100)
anim.save("wave.gif", writer=PillowWriter(fps=10), dpi=60)
plt.close(fig)

with Image.open("wave.gif") as im:
    print("format:", im.format)
    print("frames:", im.n_frames)
    print("size:", im.size)
