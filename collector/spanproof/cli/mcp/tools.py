"""What the MCP server offers: plain functions over the store, the scanners and suites of one machine.

A docstring here is what the calling model reads. Text out of traces is hostile: it is cut, and rendered
without control characters.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich.console import Console

from spanproof.cli.engine import opened_engine
from spanproof.cli.options.policy import load_pipeline
from spanproof.cli.options.store import get_run, get_trace, opened_store, parse_since
from spanproof.cli.output.console import select_attributes
from spanproof.cli.output.hostile import format_controls
from spanproof.cli.output.run_page import build_run_page
from spanproof.cli.output.words import describe_outcome, format_time
from spanproof.cli.problems import UsageProblem
from spanproof.config.model import Config
from spanproof.store import RunRow, TraceRow
from spanproof.store.trace_list import TraceTerms
from spanproof.store.trace_listing import TraceListing
from spanproof.suites import load_suite, promote_run, run_suite
from spanproof.trace import Layer, State, get_state

LayerName = Literal["correctness", "boundary", "execution", "groundedness", "trajectory"]
StateName = Literal["fail", "errored", "open", "pass", "skipped"]
States = Annotated[
    tuple[StateName, ...],
    Field(description="Only traces in these states. Everything where the list is empty."),
]
Since = Annotated[str | None, Field(description="Only the last …: 90s, 15m, 24h, 7d. Everything without it.")]
Limit = Annotated[int, Field(ge=1, le=200, description="Print at most this many rows.")]
TraceId = Annotated[str, Field(description="A trace id, or the start of one.")]
RunName = Annotated[str | None, Field(description="Which run, where the trace has several: span id or name.")]
SuiteName = Annotated[str, Field(description="Folder of the suite, below the folder the server was given.")]

_NOT_PASSED: tuple[StateName, ...] = ("fail", "errored", "open")
_WIDTH = 110
_LONGEST_PAGE = 40_000
_LONGEST_REASON = 400


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools, each a method.

    Attributes:
        location: of the store that is read.
        policy_file: of the scanners; the default policy without one.
        suites: folder below which suites are read and written.
    """

    location: str
    policy_file: Path | None = None
    suites: Path = Path()

    def list_traces(
        self,
        states: States = _NOT_PASSED,
        layer: LayerName | None = None,
        since: Since = None,
        limit: Limit = 20,
    ) -> list[dict[str, Any]]:
        """List evaluated traces, newest first: each run with its state, that of each layer, and why.

        By default only traces that did not pass: something fails, is open (it could not be settled, which is
        no pass), or its evaluation failed. `layer` narrows that to runs of which this layer is in that state.
        """
        if layer and not states:
            raise UsageProblem("`layer` says which layer must be in a state", "Name `states`.")
        since_ns = None if since is None else parse_since(since)
        wanted = [State(state) for state in states]
        chosen = TraceTerms(since_ns=since_ns, states=[] if layer else wanted)
        layer_states = (Layer(layer), wanted) if layer else None
        with opened_store(self.location) as store:
            rows = list(TraceListing(store, chosen, layer_states=layer_states).iter_rows(limit))
        return [_to_trace_row(row) for row in rows]

    def show_trace(self, trace: TraceId, run: RunName = None) -> str:
        """Show one trace as text: each run's verdict, why, and its steps with code, output and replay."""
        with opened_store(self.location) as store:
            evaluation = get_trace(store, trace)
            feedback = store.feedback(evaluation.key)
        runs = (get_run(evaluation, run),) if run else evaluation.runs
        page = io.StringIO()
        console = Console(file=page, width=_WIDTH, highlight=False, no_color=True, force_terminal=False)
        for item in runs:
            about = [comment for comment in feedback if comment.is_about(item.run.span_id)]
            console.print(build_run_page(evaluation, item, about, full=False))
        text = page.getvalue() or f"trace {evaluation.trace.trace_id} has no agent run"
        left = len(text) - _LONGEST_PAGE
        if left <= 0:
            return text
        return f"{text[:_LONGEST_PAGE]}\n… {left} more characters; name one run"

    def check_code(
        self, source: str, language: Literal["python", "javascript", "typescript", "bash", "sql"]
    ) -> dict[str, Any]:
        """Scan a snippet without running it: allow, review or deny, and each finding with line and remedy."""
        scan = load_pipeline(self.policy_file).scan(language, source)
        findings = [
            select_attributes(finding, "rule severity verdict line message remedy cwe")
            for finding in scan.findings
        ]
        return {"verdict": scan.verdict.value, "findings": findings}

    def list_cases(self, suite: SuiteName) -> list[dict[str, Any]]:
        """List the cases of a suite: agent, task, and the layers that the frozen run fails."""
        return [
            {
                **select_attributes(case, "id agent task"),
                "fails": [
                    expectation.layer.value
                    for expectation in case.expectations
                    if expectation.is_of_layer and expectation.verdict == "fail"
                ],
            }
            for case in load_suite(self._get_suite_folder(suite))
        ]

    def run_suite(self, suite: SuiteName) -> dict[str, Any]:
        """Replay every case of a suite offline, in the sandbox; report what differs from the frozen run."""
        with opened_engine(Config(), self.policy_file) as engine:
            return run_suite(self._get_suite_folder(suite), engine).to_json()

    def promote_run(self, trace: TraceId, suite: SuiteName, run: RunName = None) -> dict[str, Any]:
        """Add a stored run to a suite as a hermetic case; writes files below the suite's folder."""
        with opened_store(self.location) as store:
            evaluation = get_trace(store, trace)
        folder = self._get_suite_folder(suite)
        case = promote_run(evaluation, get_run(evaluation, run).run.span_id, folder)
        return {"id": case.id, "folder": str(folder / "cases" / case.id)}

    def _get_suite_folder(self, name: str) -> Path:
        """Return the folder of a suite; raises UsageProblem where it lies outside the folder of suites."""
        folder = (self.suites / name).resolve()
        if not folder.is_relative_to(self.suites.resolve()):
            raise UsageProblem(
                f"the suite {name!r} lies outside {self.suites.resolve()}",
                "Name a folder below it, or start the server with --suites.",
            )
        return folder


def _to_trace_row(row: TraceRow) -> dict[str, Any]:
    return {
        "trace_id": row.trace_id,
        "project": row.project,
        "started": f"{format_time(row.start_ns)} UTC",
        "state": row.state.value,
        "runs": [_to_run_row(run) for run in row.runs],
    }


def _to_run_row(run: RunRow) -> dict[str, Any]:
    return {
        "span_id": run.run_span_id,
        "agent": format_controls(run.agent),
        "model": format_controls(run.model),
        "state": run.state.value,
        "verdicts": {layer.value: get_state(outcome).value for layer, outcome in run.layers.items()},
        "why": {
            layer.value: format_controls(describe_outcome(outcome))[:_LONGEST_REASON]
            for layer, outcome in run.layers.items()
            if get_state(outcome).value in _NOT_PASSED
        },
    }
