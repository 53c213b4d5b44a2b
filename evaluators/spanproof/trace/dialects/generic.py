"""Spans of no known dialect: an application's own.

Input, output and error are read where they have usual names; the kind is always OTHER.
"""

from __future__ import annotations

from spanproof.trace.dialects.decode import payload
from spanproof.trace.dialects.failures import error_of
from spanproof.trace.dialects.raw import RawSpan
from spanproof.trace.dialects.reading import Dialect, Reading

_INPUT, _OUTPUT = ("input.value", "input"), ("output.value", "output")


def read(raw: RawSpan) -> Reading:
    """What can be read of a span without a convention."""
    return Reading(
        input=payload(raw.first(*_INPUT)), output=payload(raw.first(*_OUTPUT)), error=error_of(raw)
    )


DIALECT = Dialect("generic", (), (), read)
