import matplotlib.pyplot as plt
import numpy as np

grid_x, grid_y = np.meshgrid(np.linspace(-2, 2, 30), np.linspace(-2, 2, 30))
height = np.exp(-(grid_x**2 + grid_y**2))
figure = plt.figure(figsize=(8, 4))
surface = figure.add_subplot(121, projection="3d")
surface.plot_surface(grid_x, grid_y, height, cmap="viridis")
contour = figure.add_subplot(122)
filled = contour.contourf(grid_x, grid_y, height, levels=6)
figure.colorbar(filled, ax=contour)
plt.savefig("terrain.png")
print(height.max().round(3), len(figure.axes))
