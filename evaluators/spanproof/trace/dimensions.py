"""What scores are grouped and chosen by: the names of dimensions, wherever one is given.

A dimension is a field of the cohort, or one that spans carry: `session`, `user`, and `attribute:KEY` for any
attribute of spans or resources.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Final

from spanproof.trace.model import Cohort

DIMENSIONS: Final = tuple(field.name for field in fields(Cohort))
"""Those of the cohort."""

ATTRIBUTE: Final = "attribute:"
"""Before the key of an attribute that is a dimension."""


class Subject(StrEnum):
    """Whose traces are meant."""

    SESSION = "session"
    USER = "user"


def is_carried(name: str) -> bool:
    """Whether spans carry the dimension, as no column of a cohort has it."""
    return name in list(Subject) or (name.startswith(ATTRIBUTE) and len(name) > len(ATTRIBUTE))


def get_dimension(name: str) -> str:
    """Return the name of a dimension.

    Raises:
        ValueError: there is no such dimension.
    """
    if name not in DIMENSIONS and not is_carried(name):
        names = ", ".join((*DIMENSIONS, *Subject))
        raise ValueError(
            f"unknown dimension {name!r}; the dimensions are {names}, and {ATTRIBUTE}KEY for any attribute of"
            " spans or resources"
        )
    return name


def get_dimensions(cohort: Mapping[str, str]) -> Mapping[str, str]:
    """Return values by dimension.

    Raises:
        ValueError: there is no such dimension.
    """
    for name in cohort:
        get_dimension(name)
    return cohort
