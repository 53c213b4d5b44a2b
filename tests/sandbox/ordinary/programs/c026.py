import networkx as nx
deps = nx.DiGraph([("app", "db"), ("app", "cache"), ("db", "disk"), ("cache", "net"), ("net", "disk")])
print(list(nx.lexicographical_topological_sort(deps)))
print(sorted(nx.ancestors(deps, "disk")))
print({k: round(v, 3) for k, v in nx.pagerank(deps).items()})
