import json
import sys
from datetime import date
from decimal import Decimal


class Encoder(json.JSONEncoder):
    def default(self, value):
        if isinstance(value, (date, Decimal)):
            return str(value)
        if isinstance(value, set):
            return sorted(value)
        return super().default(value)


order = {"due": date(2024, 5, 1), "total": Decimal("9.90"), "tags": {"b", "a"}}
json.dump(order, sys.stdout, cls=Encoder, indent=1)
print()
print(json.loads('{"a": 1.10}', parse_float=Decimal), json.dumps("é\u2028", ensure_ascii=True))
try:
    json.loads('{"a": }')
except json.JSONDecodeError as error:
    print(error.lineno, error.colno)
