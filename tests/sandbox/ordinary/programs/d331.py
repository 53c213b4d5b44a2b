import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation, PillowWriter

figure, axes = plt.subplots(figsize=(2, 2))
(line,) = axes.plot([], [])
axes.set(xlim=(0, 5), ylim=(0, 25))


def draw(frame):
    line.set_data(range(frame + 1), [n * n for n in range(frame + 1)])
    return (line,)


FuncAnimation(figure, draw, frames=4).save("squares.gif", writer=PillowWriter(fps=5))
print(open("squares.gif", "rb").read(6))
