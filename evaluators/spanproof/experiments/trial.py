"""One trial of a case: what the agent did, and whether it met what the case requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from spanproof.suites.requirements import Finding
from spanproof.trace import Layer


class TrialVerdict(StrEnum):
    """How a trial came out.

    `errored`: the case's tests could not run, by no fault of the agent; `unjudged`: another requirement could
    not be decided. None failed in either. Neither is a pass, and an errored trial counts as not passed.
    """

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    UNJUDGED = "unjudged"


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of one trial.

    Attributes:
        number: from 1.
        reason: why it did not pass, as a sentence; empty where it did.
        layer: the first layer that failed, None where none did.
        findings: each requirement of the case with what was found.
        layers: verdict by layer: pass, fail, uncertain, skipped or errored.
        answer: the agent's, None where it gave none.
        error: why the agent gave no answer, as a sentence; None where it gave one.
        wall_s: of the agent's process.
        judge_s: how long judging took, with the replay.
        steps, ok_steps: of the run, and how many of them succeeded.
        models: of its model calls.
        unknown_calls: tool calls that the case has no result for.
        trace_file: name of its file of OTLP.
        row: run and scores in the form of `spanproof eval --json`, None where there was no trace.
    """

    case: str
    number: int
    verdict: TrialVerdict
    reason: str = ""
    layer: Layer | None = None
    findings: tuple[Finding, ...] = ()
    layers: Mapping[str, str] = field(default_factory=dict)
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
    trace_id: str = ""
    trace_file: str = ""
    row: Mapping[str, Any] | None = None

    @property
    def passed(self) -> bool:
        """Whether every requirement was met."""
        return self.verdict is TrialVerdict.PASSED


def write_trial(trial: Trial) -> dict[str, Any]:
    """Return a trial as JSON data, which `read_trial` reads."""
    return asdict(trial)


def read_trial(given: Mapping[str, Any]) -> Trial:
    """Return the trial that `write_trial` wrote.

    Raises:
        KeyError, TypeError, ValueError: it is none.
    """
    findings = tuple(
        Finding(
            each["requirement"],
            each["holds"],
            each["reason"],
            _parse_layer(each["layer"]),
            # Trials that an earlier version wrote do not have it.
            errored=each.get("errored", False),
        )
        for each in given["findings"]
    )
    rest = {key: value for key, value in given.items() if key not in ("findings", "layer", "verdict")}
    rest["models"] = tuple(rest["models"])
    rest["unknown_calls"] = tuple(rest["unknown_calls"])
    return Trial(
        **rest, verdict=TrialVerdict(given["verdict"]), layer=_parse_layer(given["layer"]), findings=findings
    )


def _parse_layer(name: str | None) -> Layer | None:
    return Layer(name) if name else None
