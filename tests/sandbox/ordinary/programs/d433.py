import orjson
from datetime import datetime, timezone

data = {"when": datetime(2024, 5, 1, 12, tzinfo=timezone.utc), "items": [1, 2.5, None], "ok": True}
packed = orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
print(packed.decode())
print(orjson.loads(packed)["items"], orjson.dumps({"b": 1, "a": 2}, option=orjson.OPT_SORT_KEYS))
