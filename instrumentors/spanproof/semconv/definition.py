"""The documentation of attributes, from `attributes.txt`: `docs/semconv.md` is made of it.

The modules of this package hold the names alone, so that an agent's process reads no documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute as it is documented.

    Attributes:
        name: as it is written.
        type: of its value: `string`, `string[]`, `int`, `double` or `boolean`.
        example: a value, as one would print it.
        brief: what it says.
        status: its standing in the standard: OpenTelemetry's own words, else whose name it is.
        source: the document that names it.
        place: what carries it: a `span`, an `event` or the `resource`.
    """

    name: str
    type: str
    example: str
    brief: str
    status: str
    source: str
    place: str = "span"


@cache
def attributes() -> tuple[Attribute, ...]:
    """Return all attributes, in the order of their definition."""
    found: list[Attribute] = []
    source = ""
    for line in Path(__file__).with_name("attributes.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            source = line.strip("[]")
        elif line and not line.startswith("#"):
            name, type_, location, status, example, brief = line.split(" | ")
            found.append(Attribute(name, type_, example, brief, status, source, location))
    return tuple(found)
