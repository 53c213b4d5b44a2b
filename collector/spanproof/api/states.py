"""The states of what the workspace holds: trials, cases of suites, rows of a gate's report.

In: verdicts of experiments, suites and gates, as they are kept in files. Out: one of the five states each.
A verdict that is not known here is open: a page is green only where something passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from spanproof.experiments import CaseResult, Trial, TrialVerdict
from spanproof.gate.outputs import ResultTable, Verdict
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
    """Return the state of a trial: what it was held against, or why that could not be decided."""
    state = parse_state(trial.verdict.value)
    if state is State.OPEN and State.ERRORED in parse_layer_states(trial.layers).values():
        return State.ERRORED
    return state


def get_case_state(result: CaseResult) -> State:
    """Return the state of a case in an experiment: what its trials are together."""
    return fold_states(map(get_trial_state, result.trials))


def get_table_state(table: ResultTable) -> State:
    """Return the state of a report: the gravest of its rows, and not `pass` where it did not pass."""
    return compute_state_with_result(table.passed, (parse_state(row.verdict.value) for row in table.rows))


def compute_state_with_result(passed: bool, states: Iterable[State]) -> State:
    """Return what rows are together, and `fail` where the whole did not pass and no row says why."""
    state = fold_states(states)
    return State.FAIL if not passed and state in (State.PASS, State.SKIPPED) else state


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
