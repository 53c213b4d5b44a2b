"""A suite's result as a page: its cases, those that did not pass first, the code to blame, and their runs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from pydantic import Field

from spanproof.api import pages
from spanproof.api.gate_pages import build_mark
from spanproof.api.models import Answer
from spanproof.api.models.gates import GateMark
from spanproof.api.states import count_states, get_row_state, get_table_state
from spanproof.experiments import Experiment, Trial
from spanproof.gate.outputs import ResultRow, ResultTable
from spanproof.suites import SuiteReport
from spanproof.trace import GRAVITY, State

_MOST_ROWS: Final = 500
_MOST_DETAILS: Final = 50


class ResultFact(Answer):
    """A number of the whole, with its name."""

    name: str
    value: str


class ResultRun(Answer):
    """A run of a case: `path` is where the API has its trace, and the console below `/`."""

    name: str
    path: str


class ResultCase(Answer):
    """A case with its verdict."""

    name: str
    state: State
    verdict: str = Field(
        description="In the words of the report: `passed`, `failed`, `errored` or `inconclusive`."
    )
    reason: str
    details: list[str]
    layer: str = Field(description="The layer that failed; else empty.")
    file: str
    wall_s: float | None
    marks: list[GateMark] = Field(description="Code to blame.")
    runs: list[ResultRun] = Field(description="The runs that did not pass, where their traces are at hand.")


class ResultPage(Answer):
    """The result of a suite: of its frozen runs judged again, or of an experiment."""

    title: str
    state: State = Field(description="The gravest of its cases; never `pass` where it did not pass.")
    counts: dict[State, int] = Field(description="Cases by state.")
    passed: bool
    headline: str
    command: str = Field(description="The command that gives the same.")
    facts: list[ResultFact]
    cases: list[ResultCase]
    left_out: int = Field(description="Cases beyond those that are listed.")


def build_result_page(
    table: ResultTable, command: str, runs: Mapping[str, Sequence[ResultRun]]
) -> ResultPage:
    """Return a result, cases that did not pass first.

    Args:
        table: the result.
        command: gives the same.
        runs: of a case, by its name, the runs that can be opened.
    """
    rows = sorted(table.rows, key=lambda row: GRAVITY.index(get_row_state(row)))
    return ResultPage(
        title=pages.format_text(table.title),
        state=get_table_state(table),
        counts=count_states(map(get_row_state, table.rows)),
        passed=table.passed,
        headline=pages.format_text(table.headline),
        command=pages.format_text(command),
        facts=[
            ResultFact(name=pages.format_text(name), value=pages.format_text(value))
            for name, value in table.all_facts
        ],
        cases=[_build_case(row, runs.get(row.name, ())) for row in rows[:_MOST_ROWS]],
        left_out=max(0, len(rows) - _MOST_ROWS),
    )


def format_command(result: SuiteReport | Experiment) -> str:
    """Return the command that gives a result."""
    if isinstance(result, SuiteReport):
        return shlex.join(["spanproof", "suite", "run", result.folder or result.suite])
    suite = ["spanproof", "suite", "run", result.suite or "SUITE"]
    trials = ["--trials", str(result.wanted)] if result.wanted > 1 else []
    return shlex.join([*suite, "--agent", result.agent, *trials, "--out", result.folder])


def build_result_run(experiment: str, trial: Trial) -> ResultRun:
    """Return a trial as a run that can be opened."""
    return ResultRun(
        name=f"trial {trial.number}", path=build_trial_path(experiment, trial.case, trial.number)
    )


def build_trial_path(experiment: str, case: str, number: int) -> str:
    """Return where the API has a trial; names are quoted as a browser quotes them."""
    return quote(f"trials/{experiment}/{case}/{number}")


def _build_case(row: ResultRow, runs: Sequence[ResultRun]) -> ResultCase:
    return ResultCase(
        name=pages.format_text(row.name),
        state=get_row_state(row),
        verdict=row.verdict.value,
        reason=pages.format_text(row.reason),
        details=[pages.format_text(detail) for detail in row.details[:_MOST_DETAILS]],
        layer=row.layer,
        file=pages.format_text(row.file),
        wall_s=row.wall_s,
        marks=[build_mark(mark) for mark in row.marks],
        runs=list(runs),
    )
