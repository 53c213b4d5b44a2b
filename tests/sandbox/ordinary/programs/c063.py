import pyarrow.csv as csv, pyarrow.compute as pc
open("s.csv", "w").write("item,qty\npen,3\nink,5\n")
t = csv.read_csv("s.csv")
print(pc.sum(t["qty"]).as_py(), t.schema.names, pc.utf8_upper(t["item"]).to_pylist())
