import itertools

import networkx as nx
import pandas as pd

papers = [
    ["Ana", "Bob", "Cy"], ["Bob", "Dee"], ["Cy", "Dee", "Eve"], ["Eve", "Fay"],
    ["Fay", "Gus", "Hal"], ["Hal", "Ana"], ["Bob", "Cy"],
]
G = nx.Graph()
for authors in papers:
    for a, b in itertools.combinations(authors, 2):
        w = G.get_edge_data(a, b, {"weight": 0})["weight"]
        G.add_edge(a, b, weight=w + 1)

table = pd.DataFrame({
    "degree": dict(G.degree()),
    "betweenness": nx.betweenness_centrality(G),
    "closeness": nx.closeness_centrality(G),
    "pagerank": nx.pagerank(G, weight="weight"),
    "clustering": nx.clustering(G),
})
print(table.round(3).sort_values(["betweenness", "degree"], ascending=False).to_string())
print("average clustering: %.3f" % nx.average_clustering(G))
