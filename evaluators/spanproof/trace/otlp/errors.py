"""The one error of the codec."""

from __future__ import annotations


class MalformedOtlp(ValueError):  # noqa: N818 - names the input
    """Bytes that are no OTLP request; the message names the place and what is wrong there."""
