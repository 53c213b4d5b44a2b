import networkx as nx

roads = nx.Graph()
roads.add_weighted_edges_from([("A", "B", 4), ("B", "C", 3), ("A", "C", 9), ("C", "D", 2), ("D", "E", 5)])
print(nx.shortest_path(roads, "A", "E", weight="weight"), nx.shortest_path_length(roads, "A", "E", weight="weight"))
print(sorted(nx.articulation_points(roads)), nx.is_connected(roads), dict(roads.degree()))
print(sorted((min(u, v), max(u, v)) for u, v in nx.minimum_spanning_edges(roads, data=False)))
