import networkx as nx

roads = [
    ("Paris", "Lyon", 465), ("Paris", "Lille", 225), ("Lyon", "Marseille", 315),
    ("Paris", "Bordeaux", 585), ("Bordeaux", "Toulouse", 245), ("Toulouse", "Marseille", 405),
    ("Lyon", "Grenoble", 110), ("Grenoble", "Marseille", 305), ("Paris", "Nantes", 385),
    ("Nantes", "Bordeaux", 350),
]
G = nx.Graph()
G.add_weighted_edges_from(roads)

path = nx.dijkstra_path(G, "Lille", "Marseille")
dist = nx.dijkstra_path_length(G, "Lille", "Marseille")
print(" -> ".join(path), f"({dist} km)")

mst = nx.minimum_spanning_tree(G)
print("MST length:", int(mst.size(weight="weight")))
for u, v, d in sorted(mst.edges(data="weight"), key=lambda e: e[2]):
    print(f"  {min(u, v)} - {max(u, v)}: {d}")

ecc = nx.eccentricity(G, sp=dict(nx.all_pairs_dijkstra_path_length(G)))
print("most central city:", min(ecc, key=ecc.get), min(ecc.values()))
