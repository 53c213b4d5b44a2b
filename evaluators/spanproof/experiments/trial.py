"""One trial of a case: what the agent did, and whether it met what the case requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from spanproof.suites.requirements import Finding
from spanproof.trace import Layer, State
from spanproof.trace.codec import from_plain

# What an older Spanproof wrote of a layer that is open.
_FORMER_STATES: Final = {"uncertain": State.OPEN.value}
# Fields that hold whatever an agent's tools and hosts were given.
_OF_ANY_FORM: Final = ("unknown_calls", "requests", "row")


class TrialVerdict(StrEnum):
    """Whether a trial met what its case requires. Only a passed one did."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    """None failed, and the case's tests could not run, by no fault of the agent."""
    OPEN = "open"
    """None failed, and what is not decided hangs on verdicts that are open."""
    UNJUDGED = "unjudged"
    """A requirement could not be decided, and none failed."""

    @property
    def is_judged(self) -> bool:
        """Whether the trial passed or failed."""
        return self in (TrialVerdict.PASSED, TrialVerdict.FAILED)


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one trial.

    Attributes:
        number: from 1.
        reason: why it did not pass, as a sentence; empty where it did.
        layer: the first layer that failed, else the one that is open for the gravest cause; None of others.
        findings: each requirement of the case with what was found.
        layers: the state of each layer.
        answer: the agent's, None where it gave none.
        error: why the agent gave no answer, as a sentence; None where it gave one.
        wall_s: of the agent's process.
        judge_s: how long judging took, with the replay.
        steps, ok_steps: of the run, and how many of them succeeded.
        models: of its model calls.
        unknown_calls: tool calls that the case has no result for.
        requests: calls over HTTP to the hosts that the case has records of.
        trace_file: name of its file of OTLP.
        basis: digest of all that it rests on: agent, case, configuration, tools, image, packages.
        row: run and scores in the form of `spanproof eval --json`, None where there was no trace.
    """

    case: str
    number: int
    verdict: TrialVerdict
    reason: str = ""
    layer: Layer | None = None
    findings: tuple[Finding, ...] = ()
    layers: Mapping[str, State] = field(default_factory=dict)
    answer: str | None = None
    error: str | None = None
    wall_s: float = 0.0
    judge_s: float = 0.0
    tokens: int = 0
    cost_usd: float | None = None
    steps: int = 0
    ok_steps: int = 0
    models: tuple[str, ...] = ()
    unknown_calls: tuple[Mapping[str, Any], ...] = ()
    requests: tuple[Mapping[str, Any], ...] = ()
    trace_id: str = ""
    trace_file: str = ""
    basis: str = ""
    row: Mapping[str, Any] | None = None

    @property
    def passed(self) -> bool:
        """Whether every requirement was met."""
        return self.verdict is TrialVerdict.PASSED


def encode_trial(trial: Trial) -> dict[str, Any]:
    """Return a trial as JSON data, which `read_trial` reads."""
    return asdict(trial)


def read_trial(fields: Mapping[str, Any]) -> Trial:
    """Return the trial that `encode_trial` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    states = dict(fields["layers"])
    checked = {key: value for key, value in fields.items() if key not in _OF_ANY_FORM}
    checked["layers"] = {layer: _FORMER_STATES.get(state, state) for layer, state in states.items()}
    row = fields.get("row")
    return replace(
        from_plain(Trial, checked),
        unknown_calls=tuple(map(dict, fields["unknown_calls"])),
        requests=tuple(map(dict, fields.get("requests", ()))),
        row=None if row is None else dict(row),
    )
