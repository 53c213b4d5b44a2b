import networkx as nx
G = nx.path_graph(4)
nx.write_gml(G, "p.gml"); nx.write_edgelist(G, "p.edges"); nx.write_adjlist(G, "p.adj.gz")
print(nx.read_edgelist("p.edges", nodetype=int).edges())
print(nx.read_adjlist("p.adj.gz", nodetype=int).nodes())
