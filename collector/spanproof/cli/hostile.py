"""Hostile text on a terminal: what stands in a trace, a snippet or an output must stay text there.

Takes any string; gives one in which nothing can move the cursor, change a colour or hide a character.
"""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with control, bidirectional and zero-width characters shown as their code points."""
    return _CONTROL.sub(lambda found: f"<U+{ord(found[0]):04X}>", text.replace("\r\n", "\n"))
