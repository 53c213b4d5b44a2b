"""Hostile text on a terminal.

Text from a trace, a snippet or an output must stay text: nothing in it may move the cursor, change a colour,
hide a character or show a secret of a known format.
"""

from __future__ import annotations

import re

from rich.text import Text

# A bound for text of agents, which may hold megabytes; what people write is shorter.
_MAX_CELL = 2_000
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def format_controls(text: str) -> str:
    """Return the text with control, bidirectional and zero-width characters shown as their code points."""
    return _CONTROL.sub(lambda found: f"<U+{ord(found[0]):04X}>", text.replace("\r\n", "\n"))


def format_line(text: str, limit: int = _MAX_CELL, style: str = "") -> Text:
    """Return one line of hostile text: white space joined, made visible, secrets masked.

    Beyond `limit` characters it says how many more there are: `[+4,321 characters]`.
    """
    from spanproof.evaluators.redact import with_masked_formats  # loads the patterns of secrets

    read = text[: limit * 8]
    line = " ".join(format_controls(with_masked_formats(read)).split())
    left_out = max(0, len(line) - limit) + len(text) - len(read)
    return Text(f"{line[:limit]} [+{left_out:,} characters]" if left_out else line, style=style)
