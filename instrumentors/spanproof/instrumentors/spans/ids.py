"""Ids of traces and spans that no seed repeats.

The SDK draws its ids from the generator of the module `random`. A program that seeds it, as agents and their
code do, then gives the same ids again: spans of one trace hide each other, and runs share one trace.
"""

from __future__ import annotations

import os
from random import Random
from typing import Final

from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

_own: Final = Random()  # noqa: S311 - ids are no secrets
# A child process would go on with its parent's numbers.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_own.seed)


class UnseededIdGenerator(RandomIdGenerator):
    """Ids drawn from a generator of our own."""

    def generate_span_id(self) -> int:
        """Return a span id, never 0."""
        return _own.getrandbits(64) or self.generate_span_id()

    def generate_trace_id(self) -> int:
        """Return a trace id, never 0."""
        return _own.getrandbits(128) or self.generate_trace_id()
