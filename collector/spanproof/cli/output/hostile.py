"""Hostile text on a terminal.

Text from a trace, a snippet or an output must stay text: nothing in it may move the cursor, change a colour,
hide a character or show a secret of a known format.
"""

from __future__ import annotations

import re

from rich.text import Text

_MAX_CELL = 160
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def escape_controls(text: str) -> str:
    """Return the text with control, bidirectional and zero-width characters shown as their code points."""
    return _CONTROL.sub(lambda found: f"<U+{ord(found[0]):04X}>", text.replace("\r\n", "\n"))


def clean_line(text: str, limit: int = _MAX_CELL, style: str = "") -> Text:
    """Return one line of hostile text: white space joined, made visible, secrets masked, cut at a limit."""
    from spanproof.evaluators.redact import mask_formats  # loads the patterns of secrets

    line = " ".join(escape_controls(mask_formats(text[: limit * 8])).split())
    return Text(line if len(line) <= limit else f"{line[: limit - 1]}…", style=style)
