"""The rules of groundedness that contradict an answer; a configuration may switch them off."""

from __future__ import annotations

from enum import StrEnum


class GroundednessRule(StrEnum):
    """A rule; docs/layers/groundedness.md has a line and an example of each."""

    MISQUOTE = "misquote"
    PRINTED_RESULT = "printed-result"
    OTHER_RECORD = "other-record"
    OVERTAKEN = "overtaken"
    UNKNOWN_IDENTIFIER = "unknown-identifier"
    KNOWN_STATE = "known-state"
    FLAG = "flag"
    SUPERLATIVE = "superlative"
    DIRECTION = "direction"
    QUANTIFIER = "quantifier"
    DOING = "doing"
