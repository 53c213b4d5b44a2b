"""What a benchmark run may raise."""

from __future__ import annotations


class BenchmarkError(ValueError):
    """A file is not in the published format; the message names file, place and what is expected."""
