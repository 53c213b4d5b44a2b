"""Names of the rules of groundedness that decide without the learned choice; a configuration may switch them off."""  # noqa: E501

from __future__ import annotations

from enum import StrEnum


class GroundednessRule(StrEnum):
    """A rule; docs/layers/groundedness.md has a line and an example of each."""

    SLIP = "slip"
    LATER_WORD = "later-word"
    ONLY_VALUE = "only-value"
    UNKNOWN_IDENTIFIER = "unknown-identifier"
    KNOWN_IDENTIFIER = "known-identifier"
    GIVEN_VALUE = "given-value"
    LONE_RECORD = "lone-record"
    PRINTED_RESULT = "printed-result"
    KNOWN_STATE = "known-state"
    FLAG = "flag"
    OTHER_FIELD = "other-field"
    OTHER_RECORD = "other-record"
    OTHER_SCALE = "other-scale"
    OWN_RESULT = "own-result"
    DIRECTION = "direction"
    SUPERLATIVE = "superlative"
    COMPARISON = "comparison"
    QUANTIFIER = "quantifier"
