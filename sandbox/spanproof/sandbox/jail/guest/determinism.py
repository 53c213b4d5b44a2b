"""Seeds: the same numbers for the same seed in a session, fresh ones for each plain run."""

from __future__ import annotations

import sys


def seed(value: int | None) -> None:
    """Seed every generator that is loaded; None takes the kernel's entropy, which a fork must do."""
    if "random" in sys.modules:
        sys.modules["random"].seed(value)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(value if value is None else value % 2**32)
