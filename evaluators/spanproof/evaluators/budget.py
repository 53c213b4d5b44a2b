"""How much processor time the evaluators of each layer may take, over all runs of a trace.

Rules are interrupted where the budget ends. What waits for a sandbox or a model has a time limit of its own:
it is not begun once the budget is spent.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from spanproof.trace import Layer

# Windows has no timer of processor time.
_CAN_INTERRUPT = hasattr(signal, "setitimer")


class BudgetSpent(BaseException):
    """The budget of a layer ended. Not an `Exception`, so that no rule takes it for a failure of its own."""


class LayerBudgets:
    """What is left for each layer of one trace; `seconds` is None where there is no limit."""

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self._spent: dict[Layer, float] = {}

    def find_exhaustion(self, layer: Layer) -> str | None:
        """Return why nothing more of a layer is judged; None while there is something left."""
        if self._seconds is None or self._spent.get(layer, 0.0) < self._seconds:
            return None
        return f"judging {layer.value} took longer than evaluation.layer_budget_s, {self._seconds:g} s"

    @contextmanager
    def charge(self, layer: Layer, *, interrupt: bool) -> Iterator[None]:
        """Count the block's processor time against a layer.

        Args:
            layer: whose judging it is.
            interrupt: whether to end the block where the budget ends; in the main thread only.

        Raises:
            BudgetSpent: it was ended.
        """
        if self._seconds is None:
            yield
            return
        spent, began = self._spent.get(layer, 0.0), time.process_time()
        try:
            if interrupt and _CAN_INTERRUPT and threading.current_thread() is threading.main_thread():
                with _interrupt_after(self._seconds - spent):
                    yield
            else:
                yield
        except BudgetSpent:
            self._spent[layer] = self._seconds
            raise
        self._spent[layer] = spent + time.process_time() - began


@contextmanager
def _interrupt_after(seconds: float) -> Iterator[None]:
    """Raise `BudgetSpent` in the block once the process has worked for so long."""
    running = True

    def interrupt(_: int, __: FrameType | None) -> None:
        if running:
            raise BudgetSpent

    former = signal.signal(signal.SIGPROF, interrupt)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        yield
        running = False
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)
