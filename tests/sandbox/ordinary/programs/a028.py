import networkx as nx
import numpy as np
from networkx.algorithms import bipartite

# max flow through a pipeline network
F = nx.DiGraph()
F.add_edge("s", "a", capacity=10)
F.add_edge("s", "b", capacity=5)
F.add_edge("a", "b", capacity=15)
F.add_edge("a", "t", capacity=9)
F.add_edge("b", "t", capacity=8)
value, _ = nx.maximum_flow(F, "s", "t")
cut, (S, T) = nx.minimum_cut(F, "s", "t")
print("max flow:", value, "min cut:", cut, sorted(S), sorted(T))

# assign workers to jobs
B = nx.Graph()
skills = {"w1": ["j1", "j2"], "w2": ["j1"], "w3": ["j2", "j3"], "w4": ["j3"]}
for w, jobs in skills.items():
    B.add_edges_from((w, j) for j in jobs)
match = bipartite.maximum_matching(B, top_nodes=skills)
print("matched:", sum(1 for k in match if k.startswith("w")))

# random graphs
for p in (0.01, 0.02, 0.05):
    R = nx.erdos_renyi_graph(200, p, seed=1)
    comps = sorted(map(len, nx.connected_components(R)), reverse=True)
    print(f"p={p}: edges={R.number_of_edges()} largest={comps[0]} comps={len(comps)} deg={np.mean([d for _, d in R.degree()]):.2f}")
