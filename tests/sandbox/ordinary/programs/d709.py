from collections.abc import Mapping, Sequence
from typing import get_type_hints


class Settings(Mapping):
    def __init__(self, **values):
        self._values = values

    def __getitem__(self, key):
        return self._values[key]

    def __iter__(self):
        return iter(sorted(self._values))

    def __len__(self):
        return len(self._values)


def scale(values: Sequence[float], by: float = 2.0) -> list[float]:
    return [value * by for value in values]


settings = Settings(port=80, debug=True)
print(dict(settings), settings.get("host", "localhost"), {**settings, "port": 81}, "port" in settings)
print(scale([1, 2.5]), sorted(get_type_hints(scale)))
