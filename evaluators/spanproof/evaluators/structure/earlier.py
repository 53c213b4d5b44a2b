"""The code of runs before, which structural metrics compare with."""

from __future__ import annotations

from collections.abc import Iterable

from spanproof.evaluators.detect import list_snippets
from spanproof.evaluators.model import NoReplay
from spanproof.evaluators.outcomes.account import build_account
from spanproof.evaluators.runs import list_runs
from spanproof.evaluators.structure.left import Files, build_task_key, read_code_left
from spanproof.trace import Trace


def read_code(traces: Iterable[Trace]) -> dict[str, Files]:
    """Return the code that runs leave, by task; the latest run of each task counts."""
    left: dict[str, Files] = {}
    found = [(trace, run) for trace in traces for run in list_runs(trace, list_snippets(trace))]
    for trace, run in sorted(found, key=lambda entry: entry[1].start_ns):
        account = build_account(trace, run, {}, NoReplay("only its code is read"))
        left[build_task_key(run)] = read_code_left(run, account, {})
    return {task: files for task, files in left.items() if task and files}
