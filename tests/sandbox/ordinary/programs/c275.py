from scipy.spatial import ConvexHull, Delaunay, Voronoi, voronoi_plot_2d, distance
import numpy as np
p = np.array([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1]]); print(ConvexHull(p).volume, len(Delaunay(p).simplices), distance.cdist(p[:2], p[:2]).tolist()); voronoi_plot_2d(Voronoi(p)).savefig("v.png")
