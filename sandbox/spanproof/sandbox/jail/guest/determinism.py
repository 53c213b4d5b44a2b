"""Seeds: the same numbers for the same seed in a session, fresh ones for each plain run."""

from __future__ import annotations

import os
import random
import sys


def reseed() -> None:
    """Draw new seeds from the kernel: a fork inherits the state of every generator."""
    random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(None)


def fix(seed: int) -> None:
    """Make every usual source of chance repeat itself.

    Bytes from the operating system are drawn from a seeded generator too, which is where `uuid4`, `secrets`
    and numpy's `default_rng` get theirs.
    """
    random.seed(seed)
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed(seed % 2**32)
    source = random.Random(f"operating system, {seed}")  # noqa: S311 - the point is that it repeats
    os.urandom = source.randbytes
    random._urandom = source.randbytes  # type: ignore[attr-defined]  # noqa: SLF001 - bound at import
