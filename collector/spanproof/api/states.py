"""The states of what the workspace holds: trials, cases of suites, rows of a gate's report.

In: verdicts of experiments, suites and gates, as they are kept in files. Out: one of the five states each.
A verdict that is not known here is open: a page is green only where something passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from spanproof.experiments import CaseResult, Trial, TrialVerdict
from spanproof.gate.outputs import ResultRow, ResultTable, Verdict, format_count
from spanproof.suites import Case, Expectation
from spanproof.trace import Errored, Layer, Outcome, Scored, Skipped, State, fold_outcomes, fold_states

_WORDS: Final[Mapping[str, State]] = {
    TrialVerdict.PASSED.value: State.PASS,
    TrialVerdict.FAILED.value: State.FAIL,
    Verdict.PASSED.value: State.PASS,
    Verdict.FAILED.value: State.FAIL,
}


def parse_state(verdict: str) -> State:
    """Return the state that a verdict of a file means; open where it is not known."""
    try:
        return _WORDS.get(verdict) or State(verdict)
    except ValueError:
        return State.OPEN


def parse_layer_states(verdicts: Mapping[str, str]) -> dict[Layer, State]:
    """Return the state of each layer that a trial was judged by."""
    return {layer: parse_state(verdicts[layer.value]) for layer in Layer if layer.value in verdicts}


def get_trial_state(trial: Trial) -> State:
    """Return the state of a trial: what it was held against, or why that could not be decided.

    A case with requirements of its own passes while a layer is open: its trial is then open.
    """
    state = parse_state(trial.verdict.value)
    layers = parse_layer_states(trial.layers)
    if state is State.OPEN and State.ERRORED in layers.values():
        return State.ERRORED
    if state is State.PASS:
        return fold_states([state, *(layers[layer] for layer in list_undecided_layers(trial))])
    return state


def list_undecided_layers(trial: Trial) -> list[Layer]:
    """Return the layers that a trial's case requires and that are open or errored.

    A trial without findings is of an older version: every layer counts.
    """
    required = {finding.layer for finding in trial.findings} or set(Layer)
    return [
        layer
        for layer, state in parse_layer_states(trial.layers).items()
        if layer in required and state in (State.OPEN, State.ERRORED)
    ]


def describe_trial(trial: Trial) -> str:
    """Return why a trial did not pass, or which layers of one that passed have no verdict; else empty."""
    undecided = list_undecided_layers(trial)
    if not trial.passed or not undecided:
        return trial.reason
    return f"it meets its own requirements; without a verdict: {', '.join(undecided)}"


def add_undecided(table: ResultTable, trials: Iterable[Trial]) -> ResultTable:
    """Return the report of an experiment in which passed cases name the layers without a verdict.

    Args:
        table: a row for each case.
        trials: of the experiment.
    """
    reasons: dict[str, list[str]] = {}
    for trial in trials:
        if trial.passed and list_undecided_layers(trial):
            reasons.setdefault(trial.case, []).append(describe_trial(trial))
    if not reasons:
        return table
    rows = [
        replace(row, open=len(reasons[row.name]), reason=row.reason or reasons[row.name][0])
        if row.name in reasons
        else row
        for row in table.rows
    ]
    headline = f"{table.headline}; layers of {format_count(len(reasons), 'case')} have no verdict"
    return replace(table, rows=tuple(rows), headline=headline)


def get_row_state(row: ResultRow) -> State:
    """Return the state of a row; one that passed with something open is open."""
    state = parse_state(row.verdict.value)
    if state is State.PASS and row.open:
        return State.OPEN
    return state


def get_case_state(result: CaseResult) -> State:
    """Return the state of a case in an experiment: what its trials are together."""
    return fold_states(map(get_trial_state, result.trials))


def get_table_state(table: ResultTable) -> State:
    """Return the state of a report: the gravest of its rows, and not `pass` where it did not pass."""
    return compute_state_with_result(table.passed, map(get_row_state, table.rows))


def compute_state_with_result(passed: bool, states: Iterable[State]) -> State:
    """Return what rows are together, and `fail` where the whole did not pass and no row says why."""
    state = fold_states(states)
    if not passed and state in (State.PASS, State.SKIPPED):
        return State.FAIL
    return state


def get_frozen_state(case: Case) -> State:
    """Return the state of the run that a case was promoted from; skipped where it holds none."""
    return fold_outcomes(
        build_expected_outcome(expectation) for expectation in case.expectations if expectation.is_of_layer
    )


def build_expected_outcome(expected: Expectation) -> Outcome:
    """Return what a frozen run was judged as."""
    if expected.outcome == "scored":
        return Scored(expected.value or 0.0, expected.label, expected.explanation)
    if expected.outcome == "skipped":
        return Skipped(expected.explanation)
    return Errored("error", expected.explanation)


def count_states(states: Iterable[State]) -> dict[State, int]:
    """Return how many are in each state, none left out."""
    counted = Counter(states)
    return {state: counted[state] for state in State}
