import networkx as nx
G = nx.karate_club_graph()
print(G.number_of_nodes(), G.number_of_edges())
c = nx.community.greedy_modularity_communities(G)
print([len(x) for x in c])
