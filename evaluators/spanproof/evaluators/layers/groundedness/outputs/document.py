"""One document of an output: a text that is JSON or a literal as a whole, and how it is added.

In: a text, or a value read from one. Out: the value; facts added to a `Facts`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from spanproof.evaluators.layers.groundedness.outputs.facts import Facts
from spanproof.evaluators.layers.groundedness.outputs.literal import read_literal
from spanproof.evaluators.layers.groundedness.outputs.prose import read_strings
from spanproof.evaluators.layers.groundedness.outputs.tree import add_document

_CALL = re.compile(r"[\w.]{1,60}\(")


def add_value_and_prose(facts: Facts, output: int, value: Any, label: str = "") -> None:
    """A document with the prose in its strings."""
    first = len(facts.facts)
    add_document(facts, output, value, label)
    read_strings(facts, output, first)


def document_of(text: str) -> tuple[Any] | None:
    """The value that a text is as a whole, in a tuple of its own, None where it is none."""
    if not text:
        return None
    if text[0] in '{["-0123456789tfn':
        try:
            return (json.loads(text),)
        except (ValueError, RecursionError):
            pass
    if text[0] in "{[(" or _CALL.match(text):
        found = read_literal(text)
        if found is not None and not text[found[1] :].strip():
            return (found[0],)
    return None
