"""pass@k and pass^k: the chance that at least one of k trials passes, and that all k do.

Both are the unbiased estimators over n trials of which c passed (Chen et al. 2021, "Evaluating Large Language
Models Trained on Code"; Yao et al. 2024, "tau-bench"), exact for any n.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb


def pass_at_k(trials: int, passed: int, k: int) -> float:
    """Return the chance that at least one of `k` trials passes.

    Raises:
        ValueError: `k` is not from 1 to the number of trials.
    """
    _check_counts(trials, passed, k)
    return float(1 - Fraction(comb(trials - passed, k), comb(trials, k)))


def pass_hat_k(trials: int, passed: int, k: int) -> float:
    """Return the chance that all of `k` trials pass.

    Raises:
        ValueError: `k` is not from 1 to the number of trials.
    """
    _check_counts(trials, passed, k)
    return float(Fraction(comb(passed, k), comb(trials, k)))


def _check_counts(trials: int, passed: int, k: int) -> None:
    if not (0 <= passed <= trials and 1 <= k <= trials):
        raise ValueError(f"pass@{k} needs at least {k} trials, got {trials} of which {passed} passed")
