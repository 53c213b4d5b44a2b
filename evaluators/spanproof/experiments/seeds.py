"""The seed of each trial.

It follows from the experiment's seed, the case and the number of the trial by a hash, so that trials draw
independently of each other, and the same trial draws the same again.
"""

from __future__ import annotations

from typing import Final

from spanproof.trace import digest

# `numpy.random.seed` and PYTHONHASHSEED take 32 bits.
_SEED_COUNT: Final[int] = 2**32


def compute_trial_seed(seed: int, case: str, number: int) -> int:
    """Return the seed of a trial, below 2 ** 32.

    Args:
        seed: of the experiment.
        case: id of the case, or of the benchmark's problem.
        number: of the trial, from 1.
    """
    return int(digest("trial-seed", str(seed), case, str(number)), 16) % _SEED_COUNT
