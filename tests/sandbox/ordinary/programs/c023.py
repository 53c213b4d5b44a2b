import networkx as nx
import matplotlib.pyplot as plt
G = nx.gnp_random_graph(12, 0.3, seed=4)
pos = nx.spring_layout(G, seed=1)
nx.draw(G, pos, with_labels=True, node_color="orange")
plt.savefig("graph.png")
print(nx.is_connected(G), nx.diameter(G) if nx.is_connected(G) else None)
