"""Nothing that is sent makes a receiver fail: every input is taken or refused, in bounded time.

The inputs of a run are bounded; `python tests/plugins/fuzzing.py N` draws as many as one likes.
"""

from __future__ import annotations

import pytest
from fuzzing import KINDS, check, inputs

RUNS = 1000


@pytest.mark.parametrize("kind", KINDS)
def test_every_input_is_taken_or_refused(kind) -> None:
    for content in inputs(kind, RUNS, seed=20_251_125):
        check(kind, content)
