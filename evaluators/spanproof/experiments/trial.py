"""One trial of a case: what the agent did, and whether it met what the case requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Final

from spanproof.suites.requirements import Finding
from spanproof.trace import Cause, Layer, State

# What an older Spanproof wrote of a layer that is open.
_FORMER_STATES: Final = {"uncertain": State.OPEN}


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
    findings = tuple(
        Finding(
            row["requirement"],
            row["holds"],
            row["reason"],
            _find_layer(row["layer"]),
            is_open=bool(row.get("is_open")),
            cause=Cause(row["cause"]) if row.get("cause") else None,
            # Trials that an earlier version wrote do not have it.
            errored=row.get("errored", False),
            is_judged=row.get("is_judged", True),
            is_evidence=row.get("is_evidence", True),
        )
        for row in fields["findings"]
    )
    rest = {key: value for key, value in fields.items() if key not in ("findings", "layer", "verdict")}
    rest["layers"] = {
        layer: _FORMER_STATES.get(state) or State(state) for layer, state in fields["layers"].items()
    }
    rest["models"] = tuple(rest["models"])
    rest["unknown_calls"] = tuple(rest["unknown_calls"])
    rest["requests"] = tuple(rest.get("requests", ()))
    return Trial(
        **rest, verdict=TrialVerdict(fields["verdict"]), layer=_find_layer(fields["layer"]), findings=findings
    )


def _find_layer(name: str | None) -> Layer | None:
    return Layer(name) if name else None
