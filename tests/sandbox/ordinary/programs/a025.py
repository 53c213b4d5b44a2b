import networkx as nx

tasks = {
    "spec": (3, []), "design": (5, ["spec"]), "backend": (10, ["design"]),
    "frontend": (8, ["design"]), "db": (4, ["spec"]), "integration": (3, ["backend", "frontend", "db"]),
    "docs": (2, ["frontend"]), "release": (1, ["integration", "docs"]),
}

dag = nx.DiGraph()
for name, (days, deps) in tasks.items():
    dag.add_node(name, days=days)
    for d in deps:
        dag.add_edge(d, name)

assert nx.is_directed_acyclic_graph(dag)
order = list(nx.lexicographical_topological_sort(dag))
print("order:", ", ".join(order))

finish = {}
for t in order:
    start = max((finish[p] for p in dag.predecessors(t)), default=0)
    finish[t] = start + dag.nodes[t]["days"]
print("earliest finish:", finish)

for u, v in dag.edges:
    dag.edges[u, v]["w"] = dag.nodes[v]["days"]
print("critical path:", nx.dag_longest_path(dag, weight="w"))
print("ancestors of release:", len(nx.ancestors(dag, "release")))
