"""How an attribute is defined: its name, with all that the documentation says about it.

`define` returns the name, so that a module's constant is the string to write; what else was said is kept for
`docs/semconv.md`, which `python -m spanproof.semconv` prints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Type = Literal["string", "string[]", "int", "double", "boolean"]
Place = Literal["span", "event", "resource"]
Status = Literal["stable", "development", "OpenInference", "own"]
"""Standing in the standard: OpenTelemetry's own words, else whose name it is."""

GENAI: Final = "OTel semantic-conventions-genai"
OTEL: Final = "OTel semantic-conventions"
OPENINFERENCE: Final = "OpenInference semantic conventions"
OURS: Final = "Spanproof"


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute as it is documented.

    Attributes:
        name: as it is written.
        type: of its value.
        example: a value, as one would print it.
        brief: what it says.
        status: its standing.
        source: the document that names it.
        place: what carries it.
    """

    name: str
    type: Type
    example: str
    brief: str
    status: Status
    source: str
    place: Place = "span"


_defined: dict[str, Attribute] = {}


def define(
    name: str,
    type_: Type,
    example: str,
    brief: str,
    *,
    status: Status = "own",
    source: str = OURS,
    place: Place = "span",
) -> str:
    """Define an attribute; returns its name."""
    _defined[name] = Attribute(name, type_, example, brief, status, source, place)
    return name


def attributes() -> tuple[Attribute, ...]:
    """Return all attributes, in the order of their definition."""
    return tuple(_defined.values())
