"""The one line of a policy file that allows what a finding names.

In: a key of the policy and a value. Out: a line of its file, as `add: {hosts: [db.example.com]}`.
"""

from __future__ import annotations

import json
import re
from typing import Final

# What YAML reads as a text without quotes.
_PLAIN: Final = re.compile(r"[A-Za-z/][\w./-]*")


def format_addition(key: str, value: str | int) -> str:
    """Return the line that adds a value to a list of the policy."""
    return f"add: {{{key}: [{_format_value(value)}]}}"


def format_removal(key: str, value: str) -> str:
    """Return the line that takes a value out of a list of the policy."""
    return f"remove: {{{key}: [{_format_value(value)}]}}"


def _format_value(value: str | int) -> str:
    is_plain = isinstance(value, int) or _PLAIN.fullmatch(value)
    if is_plain:
        return str(value)
    return json.dumps(value, ensure_ascii=False)
