import pprint
import reprlib

data = {"users": [{"name": f"user{n}", "roles": ["admin", "editor"][: n % 3]} for n in range(4)], "total": 4}
pprint.pprint(data, width=60, sort_dicts=False)
print(reprlib.repr(list(range(100))), pprint.pformat((1, 2)))
