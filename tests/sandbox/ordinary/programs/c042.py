from scipy.cluster.hierarchy import linkage, dendrogram, fcluster
import matplotlib.pyplot as plt
Z = linkage([[0, 0], [0, 1], [5, 5], [5, 6]], "ward")
dendrogram(Z); plt.savefig("tree.png")
print(fcluster(Z, 2, "maxclust").tolist())
