import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter
fig, ax = plt.subplots(figsize=(2, 2))
line, = ax.plot([], [])
ax.set_xlim(0, 5); ax.set_ylim(0, 25)
def update(i):
    line.set_data(range(i + 1), [k * k for k in range(i + 1)])
    return line,
FuncAnimation(fig, update, frames=5).save("grow.gif", writer=PillowWriter(fps=5))
from PIL import Image
print(Image.open("grow.gif").n_frames)
