import networkx as nx
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from networkx.algorithms import community

G = nx.karate_club_graph()
groups = list(community.greedy_modularity_communities(G))
color = {n: i for i, grp in enumerate(groups) for n in grp}

pos = nx.spring_layout(G, seed=42)
plt.figure(figsize=(7, 6))
nx.draw_networkx(G, pos, node_color=[color[n] for n in G], cmap=plt.cm.Set2, node_size=250, font_size=8)
plt.axis("off")
plt.savefig("karate.png", bbox_inches="tight")
plt.close()

print("nodes:", G.number_of_nodes(), "edges:", G.number_of_edges())
for i, grp in enumerate(groups):
    print(f"community {i}: {sorted(grp)}")
print("modularity: %.4f" % community.modularity(G, groups))
