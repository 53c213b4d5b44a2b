import networkx as nx

build = nx.DiGraph([("lib", "app"), ("config", "app"), ("app", "tests"), ("lib", "docs")])
print(list(nx.lexicographical_topological_sort(build)))
print(nx.ancestors(build, "tests") == {"lib", "config", "app"}, nx.is_directed_acyclic_graph(build))
build.add_edge("tests", "lib")
print(sorted(nx.find_cycle(build)[0]), max(nx.pagerank(build).values()) < 1)
nx.write_graphml(build, "build.graphml")
print(nx.read_graphml("build.graphml").number_of_edges())
