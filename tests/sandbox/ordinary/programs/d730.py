import sqlglot
from sqlglot import exp

query = "SELECT u.name, COUNT(*) AS n FROM users u JOIN orders o ON o.user_id = u.id WHERE o.total > 10 GROUP BY u.name"
tree = sqlglot.parse_one(query)
print(sorted({table.name for table in tree.find_all(exp.Table)}), [c.alias_or_name for c in tree.selects])
print(sqlglot.transpile("SELECT TOP 3 * FROM t", read="tsql", write="postgres")[0])
print(sqlglot.parse_one("select 1 + 2 * x").sql(pretty=True))
