"""What a run of the agent must do, and must not do, to pass a case.

    must:
    - groundedness.score == pass                  # an assertion of the gate, over this run
    - answer: {contains: "45.00"}                 # or equals, matches, number with tolerance, json_schema
    - call: {tool: refund_lines, args: {order_id: A-17}}
    must_not:
    - call: {tool: delete_order}

Takes entries of `case.yaml` and a judged run; gives whether each holds. What could not be judged is None,
never a pass. Patterns come from other people's suites: they are matched by RE2, in time linear in the text.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spanproof.evaluators.answers import (
    check_schema,
    compile_pattern,
    find_misfit,
    is_near,
    is_number,
    numbers_in,
)
from spanproof.evaluators.model import RunEvaluation
from spanproof.gate import CaseAssertion, GateError, Verdict, check, parse
from spanproof.suites.errors import SuiteError
from spanproof.trace import Errored, JsonValue, Label, Layer, Payload, Scored, Skipped

_ANSWER_KEYS: Final = ("equals", "contains", "matches", "number", "json_schema")


@dataclass(frozen=True, slots=True)
class Finding:
    """One requirement held against a run.

    Attributes:
        holds: None where the run does not show it.
        reason: what was found, as a sentence.
        layer: the layer it is about, None for answers and calls.
    """

    requirement: str
    holds: bool | None
    reason: str
    layer: Layer | None = None


@dataclass(frozen=True, slots=True)
class Requirement(ABC):
    """One entry of `must`, or of `must_not` where `negated`."""

    entry: JsonValue
    negated: bool

    def check(self, run: RunEvaluation, returned: str | None = None) -> Finding:
        """Return whether this run meets it.

        Args:
            run: the run, judged.
            returned: what the agent returned, used where the trace has no answer.
        """
        met, reason = self._find(run, returned)
        return Finding(str(self), met if met is None else met is not self.negated, reason, self.layer)

    @property
    def layer(self) -> Layer | None:
        """The layer it is about, None for answers and calls."""
        return None

    @abstractmethod
    def _find(self, run: RunEvaluation, returned: str | None) -> tuple[bool | None, str]:
        """Whether the run does what the entry describes, and what was found."""

    def __str__(self) -> str:
        entry = self.entry if isinstance(self.entry, str) else json.dumps(self.entry, ensure_ascii=False)
        return f"must not: {entry}" if self.negated else entry


@dataclass(frozen=True, slots=True)
class ScoreRequirement(Requirement):
    """An assertion of the gate over the scores of one run."""

    assertion: CaseAssertion

    @property
    def layer(self) -> Layer | None:
        """The layer of the score."""
        return self.assertion.score.layer

    def _find(self, run: RunEvaluation, _returned: str | None) -> tuple[bool | None, str]:
        (report,) = check([self.assertion], run.scores).assertions
        failing = next(iter(report.failing), None)
        reason = failing.explanation if failing and failing.explanation else report.reason
        match report.verdict:
            case Verdict.PASSED:
                return True, _explain_own(run, self.assertion) or reason
            case Verdict.FAILED:
                return False, reason
            case _:
                return None, reason


@dataclass(frozen=True, slots=True)
class AnswerRequirement(Requirement):
    """A condition on the final answer.

    Attributes:
        how: `equals`, `contains`, `matches`, `number` or `json_schema`.
        tolerance: how far a number may be off, for `equals` and `number`.
    """

    how: str
    value: JsonValue
    tolerance: float = 0.0

    def _find(self, run: RunEvaluation, returned: str | None) -> tuple[bool | None, str]:
        answer = run.run.answer or (None if returned is None else Payload(returned, returned))
        if answer is None:
            hidden = "the answer is hidden" if run.run.hidden else "the run has no answer"
            return (None if run.run.hidden else False), hidden
        found = f"the answer is {_shorten(answer.text)}"
        match self.how:
            case "equals":
                return _equals(self.value, answer.text, answer.value, self.tolerance), found
            case "contains":
                return str(self.value) in answer.text, found
            case "matches":
                return compile_pattern(str(self.value)).search(answer.text) is not None, found
            case "number":
                wanted = _as_number(self.value)
                return any(is_near(each, wanted, self.tolerance) for each in numbers_in(answer.text)), found
            case _:
                return _fits_schema(self.value, answer.text, answer.value, found)


@dataclass(frozen=True, slots=True)
class CallRequirement(Requirement):
    """A tool call of the run; `args` names the arguments that are compared, others may be anything."""

    tool: str
    args: Mapping[str, JsonValue]

    def _find(self, run: RunEvaluation, _returned: str | None) -> tuple[bool | None, str]:
        calls = [call for step in run.run.steps for call in step.calls if call.tool == self.tool]
        if not calls:
            return False, f"{self.tool} was not called"
        for call in calls:
            if self._fits(call.args, call.kwargs):
                return True, f"{self.tool} was called with {_shorten(_format_call(call.args, call.kwargs))}"
        last = calls[-1]
        return False, f"{self.tool} was called with {_shorten(_format_call(last.args, last.kwargs))}"

    def _fits(self, args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> bool:
        values = list(args)
        # What is passed by position has no name on record: its value must be among them.
        return all(
            kwargs[name] == value if name in kwargs else value in values for name, value in self.args.items()
        )


@dataclass(frozen=True, slots=True)
class NoFailure(Requirement):
    """A layer must not *fail*: what a case requires where it has no `must` and no `must_not`.

    Attributes:
        judged: whether the layer must be judged; it was, when the case was promoted as a failure of it.
    """

    about: Layer
    judged: bool

    @property
    def layer(self) -> Layer | None:
        """The layer."""
        return self.about

    def _find(self, run: RunEvaluation, _returned: str | None) -> tuple[bool | None, str]:
        name = self.about.value
        outcome = next((s.outcome for s in run.scores if s.layer is self.about and s.name == name), None)
        match outcome:
            case Scored(label=label, explanation=explanation):
                return label is Label.FAIL, explanation
            case Errored(error_type, message):
                return None, f"{error_type}: {message}"
            case Skipped(reason):
                return (None if self.judged else False), reason
            case None:
                return (None if self.judged else False), f"{name} was not judged"


def no_failures(failed_before: Iterable[Layer] = ()) -> tuple[Requirement, ...]:
    """Return the requirements that no layer fails; those that failed before must be judged."""
    before = set(failed_before)
    return tuple(
        NoFailure(f"{layer.value}.score == fail", negated=True, about=layer, judged=layer in before)
        for layer in Layer
    )


def describe_answer(expected: JsonValue, text_key: str = "contains") -> JsonValue:
    """Return the entry of `must` for an expected answer: text, a number, or other JSON that it equals."""
    match expected:
        case bool() | dict() | list():
            return {"answer": {"equals": expected}}
        case int() | float():
            return {"answer": {"number": expected}}
        case _:
            return {"answer": {text_key: str(expected)}}


def expect_answer(expected: JsonValue) -> tuple[Requirement, ...]:
    """Return the requirement of an expected answer."""
    return read_requirements("expected", [describe_answer(expected)], None)


def read_requirements(place: str, must: object, must_not: object) -> tuple[Requirement, ...]:
    """Return the requirements of a case.

    Args:
        place: the file, for errors.
        must: a list of entries, or None.
        must_not: the same.

    Raises:
        SuiteError: names the entry, what is wrong and what is expected.
    """
    found: list[Requirement] = []
    for key, entries in (("must", must), ("must_not", must_not)):
        if entries is None:
            continue
        if not isinstance(entries, list):
            raise SuiteError(f"{place}: {key} must be a list, got {type(entries).__name__}")
        for number, entry in enumerate(entries, start=1):
            try:
                found.append(_read_entry(entry, negated=key == "must_not"))
            except (TypeError, ValueError, GateError) as problem:
                raise SuiteError(f"{place}: {key}, entry {number}: {problem}") from problem
    return tuple(found)


def write_requirements(requirements: Iterable[Requirement]) -> dict[str, list[JsonValue]]:
    """Return `must` and `must_not` as `case.yaml` holds them; an empty one is left out."""
    must: list[JsonValue] = []
    must_not: list[JsonValue] = []
    for each in requirements:
        (must_not if each.negated else must).append(each.entry)
    return {key: entries for key, entries in (("must", must), ("must_not", must_not)) if entries}


def _read_entry(entry: object, *, negated: bool) -> Requirement:
    if isinstance(entry, str):
        assertion = parse(entry if " for " in entry else f"{entry} for all cases")
        if not isinstance(assertion, CaseAssertion):
            raise TypeError(f"{assertion.subject} is over many cases: give it to `spanproof gate`")
        return ScoreRequirement(entry, negated, assertion)
    if isinstance(entry, dict) and len(entry) == 1:
        ((kind, about),) = entry.items()
        if kind == "answer" and isinstance(about, dict):
            return _read_answer(entry, about, negated=negated)
        if kind == "call" and isinstance(about, dict):
            return _read_call(entry, about, negated=negated)
    raise ValueError(
        "expected an assertion ('groundedness.score == pass'), answer: {contains: …} or call: {tool: …}, got"
        f" {_shorten(str(entry))}"
    )


def _read_answer(entry: Any, about: Mapping[str, Any], *, negated: bool) -> Requirement:
    hows = [key for key in about if key in _ANSWER_KEYS]
    unknown = set(about) - {*_ANSWER_KEYS, "tolerance"}
    if len(hows) != 1 or unknown:
        raise ValueError(
            f"answer takes one of {', '.join(_ANSWER_KEYS)}, and tolerance; got {', '.join(about)}"
        )
    how, value = hows[0], about[hows[0]]
    tolerance = about.get("tolerance", 0.0)
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or tolerance < 0:
        raise ValueError(f"tolerance must be a number of at least 0, got {tolerance!r}")
    match how:
        case "matches":
            try:
                compile_pattern(str(value))
            except ValueError as problem:
                raise ValueError(f"matches: {problem}") from problem
        case "number":
            _as_number(value)
        case "json_schema":
            try:
                check_schema(value)
            except ValueError as problem:
                raise ValueError(f"json_schema: {problem}") from problem
    return AnswerRequirement(entry, negated, how, value, float(tolerance))


def _read_call(entry: Any, about: Mapping[str, Any], *, negated: bool) -> Requirement:
    tool, args = about.get("tool"), about.get("args", {})
    if not isinstance(tool, str) or not isinstance(args, dict) or set(about) - {"tool", "args"}:
        raise ValueError("call takes tool, a name, and args, a mapping of argument names to values")
    return CallRequirement(entry, negated, tool, args)


def _equals(wanted: JsonValue, text: str, value: JsonValue, tolerance: float) -> bool:
    if isinstance(wanted, str):
        return text.strip() == wanted.strip()
    if isinstance(wanted, int | float) and not isinstance(wanted, bool):
        found = [value] if is_number(value) else numbers_in(text)
        return len(found) == 1 and is_near(found[0], float(wanted), tolerance)
    return value == wanted


def _fits_schema(schema: Any, text: str, value: JsonValue, found: str) -> tuple[bool, str]:
    if isinstance(value, str):
        try:
            value = json.loads(text)
        except ValueError:
            return False, f"{found}, which is no JSON"
    misfit = find_misfit(schema, value)
    return (True, found) if misfit is None else (False, f"{found}: {_shorten(misfit)}")


def _as_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"number must be a number, got {value!r}")
    return float(value)


def _explain_own(run: RunEvaluation, assertion: CaseAssertion) -> str:
    layer, name = assertion.score.layer, assertion.score.row_name
    outcomes = (each.outcome for each in run.scores if each.layer is layer and each.name == name)
    return next((each.explanation for each in outcomes if isinstance(each, Scored)), "")


def _format_call(args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> str:
    parts = [repr(value) for value in args] + [f"{name}={value!r}" for name, value in kwargs.items()]
    return f"({', '.join(parts)})"


def _shorten(text: str, limit: int = 120) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
