"""Spans of no known dialect: an application's own.

Input, output and error are read where they have usual names; the kind is always OTHER.
"""

from __future__ import annotations

from spanproof.trace.dialects.decode import to_payload
from spanproof.trace.dialects.failures import find_error
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_INPUT, _OUTPUT = ("input.value", "input"), ("output.value", "output")


def read_span(raw: RawSpan) -> Reading:
    """Return what can be read of a span without a convention."""
    return Reading(
        input=to_payload(raw.get_first(*_INPUT)),
        output=to_payload(raw.get_first(*_OUTPUT)),
        error=find_error(raw),
    )


DIALECT = Dialect("generic", (), (), read_span)
