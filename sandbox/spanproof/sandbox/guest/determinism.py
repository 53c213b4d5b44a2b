"""Seeds of the generators a warm interpreter has already: they would go on from where the fork was made."""

from __future__ import annotations

import os
import random
import sys

# What no one can guess; `random.seed()` draws 2.5 kB, which takes four times as long.
_SEED_BYTES = 32


def update_generators() -> None:
    """Draw new seeds from the kernel."""
    random.seed(int.from_bytes(os.urandom(_SEED_BYTES)))
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(None)


def start_generators(seed: int) -> None:
    """Seed the generators to repeat; what draws from the kernel does so by the supervisor's doing."""
    random.seed(seed)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(seed % 2**32)
