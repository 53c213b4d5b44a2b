import networkx as nx
G = nx.DiGraph()
G.add_weighted_edges_from([("s", "a", 4), ("s", "b", 2), ("b", "a", 1), ("a", "t", 3), ("b", "t", 7)])
print(nx.dijkstra_path(G, "s", "t"), nx.dijkstra_path_length(G, "s", "t"))
print(nx.maximum_flow_value(G, "s", "t", capacity="weight"))
nx.write_graphml(G, "g.graphml")
print(nx.read_graphml("g.graphml").number_of_edges())
