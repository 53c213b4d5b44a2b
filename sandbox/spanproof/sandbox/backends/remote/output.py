"""What a guest's line holds of a program's output."""

from __future__ import annotations

import base64
import binascii

from spanproof.sandbox.guest.wire import Header


def decode_output(said: Header) -> list[bytes]:
    """Return the kept output in a line of the guest's."""
    found = []
    for name in ("out", "err"):
        text = said.get(name)
        try:
            found.append(base64.b64decode(text, validate=True) if isinstance(text, str) else b"")
        except (binascii.Error, ValueError):
            found.append(b"")
    return found
