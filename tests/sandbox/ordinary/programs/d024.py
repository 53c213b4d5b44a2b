import gzip
import json

events = [{"id": n, "kind": "click" if n % 3 else "view"} for n in range(1000)]
with gzip.open("events.jsonl.gz", "wt", encoding="utf-8") as out:
    for event in events:
        out.write(json.dumps(event) + "\n")
with gzip.open("events.jsonl.gz", "rt", encoding="utf-8") as lines:
    views = sum(json.loads(line)["kind"] == "view" for line in lines)
print(views, "views")
