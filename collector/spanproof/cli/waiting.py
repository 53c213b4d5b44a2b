"""What waits for its evaluation, in words: `1 trace waits, evaluated in about 4 s`."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from spanproof.cli.options.config import read_config
from spanproof.cli.output.console import write_warning
from spanproof.cli.output.words import format_count
from spanproof.config.model import Assembly
from spanproof.store import Waiting, WaitingTrace

# A whole trace that waits so much longer than usual: the collector is stopped or has much to do.
_LATE_S: Final = 30.0


def write_waiting(waiting: Waiting) -> None:
    """Print to stderr what is not evaluated yet; nothing where all is."""
    if waiting.traces:
        for sentence in iter_waiting_sentences(waiting, time.time_ns(), read_assembly()):
            write_warning(sentence)


def read_assembly() -> Assembly:
    """Return when traces count as complete, as the configuration of this process has it."""
    file = os.environ.get("SPANPROOF_CONFIG")
    return read_config(Path(file) if file else None).assembly


def iter_waiting_sentences(waiting: Waiting, now_ns: int, assembly: Assembly) -> Iterator[str]:
    """Yield a sentence for the traces that are whole and wait, and one for those that have not ended.

    Args:
        waiting: what the store has.
        now_ns: Unix time in nanoseconds.
        assembly: says how long a trace waits where the store has no evaluated trace to measure it on.
    """
    if waiting.usual_wait_s is None:
        usual_s = assembly.quiet_s
    else:
        usual_s = waiting.usual_wait_s
    whole = [trace for trace in waiting.traces if trace.is_whole]
    if whole:
        yield _describe_whole(whole, now_ns, usual_s)
    if unfinished := len(waiting.traces) - len(whole):
        are = "has" if unfinished == 1 else "have"
        yield (
            f"{format_count(unfinished, 'trace')} {are} not ended: evaluated about {math.ceil(usual_s)} s"
            f" after the end, or after {assembly.orphan_quiet_s:g} s without a span"
        )


def _describe_whole(traces: Sequence[WaitingTrace], now_ns: int, usual_s: float) -> str:
    wait = "waits" if len(traces) == 1 else "wait"
    waits = f"{format_count(len(traces), 'trace')} {wait}"
    left_s = usual_s - (now_ns - max(trace.stored_ns for trace in traces)) / 1e9
    if left_s > 0:
        return f"{waits}, evaluated in about {math.ceil(left_s)} s"
    if left_s > -_LATE_S:
        return f"{waits}, evaluated at any moment"
    return f"{waits}, the last for {usual_s - left_s:.0f} s: see whether the collector runs, and its log"
