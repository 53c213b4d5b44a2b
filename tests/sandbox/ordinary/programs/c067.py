import pyarrow.json as pj
open("l.jsonl", "w").write('{"a": 1, "b": {"c": "x"}}\n{"a": 2, "b": {"c": "y"}}\n')
print(pj.read_json("l.jsonl").to_pylist())
