import json, pathlib
p = pathlib.Path("data/a.json"); p.parent.mkdir(); p.write_text(json.dumps({"x": [1, 2, {"y": None}]}, indent=1)); d = json.loads(p.read_text()); print(d["x"][2], p.suffix, p.stat().st_size, [q.name for q in pathlib.Path(".").glob("**/*.json")], p.with_suffix(".txt").name, p.resolve().is_absolute())
