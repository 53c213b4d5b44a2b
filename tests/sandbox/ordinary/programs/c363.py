from dataclasses import dataclass, field, asdict, replace
from enum import Enum, auto
class Kind(Enum): A = auto(); B = auto()
@dataclass(order=True, frozen=True)
class Item: price: float; name: str = field(compare=False); tags: tuple = ()
print(sorted([Item(2, "b"), Item(1, "a")])[0], asdict(Item(1, "x")), replace(Item(1, "x"), price=3).price, Kind["A"].value, [k.name for k in Kind])
