"""The built-in checks by name: apart from what runs them, as the configuration names them, too."""

from __future__ import annotations

from enum import StrEnum


class Check(StrEnum):
    """What is compared."""

    EXACT_MATCH = "exact_match"
    CONTAINS = "contains"
    REGEX = "regex"
    JSON_VALID = "json_valid"
    JSON_SCHEMA = "json_schema"
    NUMERIC = "numeric"
    EXPRESSION = "expression"
    CEL = "cel"
