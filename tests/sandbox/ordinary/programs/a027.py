import json
import networkx as nx

G = nx.DiGraph(name="services")
G.add_node("api", tier=1)
G.add_node("auth", tier=2)
G.add_node("db", tier=3)
G.add_node("cache", tier=3)
G.add_edges_from([("api", "auth"), ("api", "cache"), ("auth", "db"), ("api", "db")])

data = nx.node_link_data(G, edges="links")
with open("services.json", "w") as f:
    json.dump(data, f, indent=2)
nx.write_graphml(G, "services.graphml")
nx.write_adjlist(G, "services.adj")

H = nx.node_link_graph(json.load(open("services.json")), edges="links")
K = nx.read_graphml("services.graphml")
print("json round trip equal:", nx.utils.graphs_equal(G, H))
print("graphml nodes:", dict(K.nodes(data="tier")))
print("lines in adjacency list:", sum(1 for l in open("services.adj") if not l.startswith("#")))
print(json.dumps(data["links"]))
