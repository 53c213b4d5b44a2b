import dataclasses
import datetime
import decimal
import json


@dataclasses.dataclass
class Invoice:
    number: int
    due: datetime.date
    total: decimal.Decimal
    tags: set


class Encoder(json.JSONEncoder):
    def default(self, o):
        if dataclasses.is_dataclass(o):
            return {f.name: getattr(o, f.name) for f in dataclasses.fields(o)}
        if isinstance(o, datetime.date):
            return o.isoformat()
        if isinstance(o, decimal.Decimal):
            return str(o)
        if isinstance(o, set):
            return sorted(o)
        return super().default(o)


inv = Invoice(7, datetime.date(2023, 3, 31), decimal.Decimal("199.90"), {"paid", "eu"})
text = json.dumps(inv, cls=Encoder, indent=2, sort_keys=True)
print(text)
back = json.loads(text, parse_int=lambda s: int(s) * 1000)
print(back["number"], datetime.date.fromisoformat(back["due"]).strftime("%d/%m/%Y"))
try:
    json.loads('{"a": 1,}')
except json.JSONDecodeError as exc:
    print("line", exc.lineno, "col", exc.colno)
