"""One console for all workers of a test run: a filled store, served by a process of its own.

Each worker holds a shared lock while it needs the console. The process that serves it waits for that lock to
be free, and ends then, however the workers ended.

    python -m tests.console.shared_console FOLDER
"""

from __future__ import annotations

import fcntl
import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from spanproof.api import ConsoleServer, ConsoleSettings
from spanproof.api.report import format_gate_report, format_suite_report, format_trace_report
from spanproof.evaluators.score_rows import build_run_row
from spanproof.gate import evaluate_assertions, parse_assertion
from spanproof.sandbox.registry import open_sandbox
from spanproof.store import Store, open_store
from spanproof.suites import CaseReport, CaseStatus, SuiteReport, load_suite
from spanproof.suites.run import Difference

from .filled_store import FAILING, HOSTILE, LONG, SPOILT, fill

ROOT = Path(__file__).parents[2]
_HANGS_S = 500.0


@dataclass(frozen=True)
class SharedConsole:
    """Its address, the folder of its suites, and the folder of the files that were written of its store."""

    url: str
    workspace: str
    reports: str


@contextmanager
def open_shared(folder: Path) -> Iterator[SharedConsole]:
    """Give the console of all who share a folder, while the context is open."""
    with (folder / "console.users").open("a") as users, (folder / "console.start").open("a") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        # Ours is there before we look whether it runs: a process that has seen no user ends.
        fcntl.flock(users, fcntl.LOCK_SH)
        console = _running(folder) or _started(folder)
        fcntl.flock(starting, fcntl.LOCK_UN)
        yield console


def _running(folder: Path) -> SharedConsole | None:
    try:
        console = SharedConsole(**json.loads((folder / "console.json").read_text()))
        address = urlsplit(console.url)
        socket.create_connection((address.hostname, address.port), timeout=10).close()
    except (OSError, ValueError):
        return None
    return console


def _started(folder: Path) -> SharedConsole:
    with (folder / "console.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.console.shared_console", str(folder)],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
    deadline = time.monotonic() + _HANGS_S
    while (console := _running(folder)) is None:
        said = (folder / "console.log").read_text(errors="replace")[-3000:]
        assert process.poll() is None, f"the console did not start:\n{said}"
        assert time.monotonic() < deadline, f"the console does not answer:\n{said}"
        time.sleep(0.05)
    return console


def serve(folder: Path) -> None:
    """Fill a store and serve it while any worker uses it."""
    workspace, reports = folder / "console-workspace", folder / "console-reports"
    reports.mkdir(exist_ok=True)
    with open_store(folder / "console-store") as store:
        fill(store, workspace)
        write_reports(store, workspace, reports)
        settings = ConsoleSettings(workspace=workspace, open_sandbox=lambda: open_sandbox("jail", workers=1))
        with ConsoleServer(lambda: store, "127.0.0.1", 0, settings) as server:
            state = SharedConsole(server.url, str(workspace), str(reports))
            written = folder / "console.json.new"
            written.write_text(json.dumps(asdict(state)))
            written.rename(folder / "console.json")
            with (folder / "console.users").open("a") as users:
                fcntl.flock(users, fcntl.LOCK_EX)
                (folder / "console.json").unlink()


def write_reports(store: Store, workspace: Path, folder: Path) -> None:
    """Write traces, reports of the gate and the result of a suite as files."""
    for name, trace_id in (("trace", FAILING), ("hostile", SPOILT)):
        evaluation = store.evaluation(trace_id)
        assert evaluation is not None, "the store has the trace"
        (folder / f"{name}.html").write_text(format_trace_report(evaluation, (), None), encoding="utf-8")
    for name, text in (
        ("gate", "groundedness.score >= 0.9 for all cases"),
        ("hostile-gate", "trajectory.score >= 0.95 for all cases"),
    ):
        (folder / f"{name}.html").write_text(gate_report(store, text), encoding="utf-8")

    (folder / "suite.html").write_text(suite_report(store, workspace), encoding="utf-8")


def suite_report(store: Store, workspace: Path) -> str:
    """Return the report of a suite whose only case is judged otherwise than it was."""
    evaluation = store.evaluation(FAILING)
    assert evaluation is not None, "the store has the trace"
    (case,) = load_suite(workspace / "prices")
    expected = next(each for each in case.expectations if each.verdict == "fail")
    found = CaseReport(case, CaseStatus.FIXED, (Difference(expected, "pass", HOSTILE),), evaluation)
    return format_suite_report(SuiteReport("prices", (found,), folder="prices"))


def gate_report(store: Store, text: str) -> str:
    """Return the report of an assertion over all but the long trace, with the code of the failing runs."""
    report = evaluate_assertions(
        [parse_assertion(text)], (score for score in store.scores() if score.trace_id != LONG)
    )
    failing = list(store.evaluations([case.trace_id for each in report.assertions for case in each.failing]))
    rows = {
        (each.trace.trace_id, run.run.span_id): build_run_row(run) for each in failing for run in each.runs
    }
    return format_gate_report(report, report.to_table(rows), failing)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
