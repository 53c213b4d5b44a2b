"""What a run of the agent must do, and must not do, to pass a case.

    must:
    - groundedness.score == pass                  # an assertion of the gate, over this run
    - answer: {contains: "45.00"}                 # or equals, matches, number with tolerance, json_schema
    - call: {tool: refund_lines, args: {order_id: A-17}}
    - call: {tool: GET https://api.example.com/orders, query: {id: A-17}, count: 1}
    - file: {path: refunds.csv, contains: "A-17"}  # in the agent's work directory; conditions as of an answer
    must_not:
    - call: {tool: delete_order}
    requires: [boundary, execution]               # the layers that must not fail; else all five

`must` and `must_not` add to the layers. A case with tests requires as well that all of them ran and passed.

Takes entries of `case.yaml` and what an agent's work left; gives whether each holds. What could not be judged
is None, never a pass; it is open where it was scored and what decides could not be settled.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Final

from spanproof.evaluators.model import RunEvaluation
from spanproof.evaluators.scores import find_state
from spanproof.gate import CaseAssertion, GateError, Verdict, evaluate_assertions, parse_assertion
from spanproof.suites.conditions import Condition, format_short_line, read_condition
from spanproof.suites.errors import SuiteError
from spanproof.suites.requests import HttpRequest, RequestPattern, find_pattern, find_request
from spanproof.trace import (
    LEFT_UNJUDGED,
    Cause,
    Errored,
    JsonValue,
    Layer,
    Outcome,
    Payload,
    Scored,
    Skipped,
    State,
    get_state,
)

_SHOWN_CALLS: Final = 3
_NO_RUN: Final = "it left no trace of an agent's run"


@dataclass(frozen=True, slots=True)
class Finding:
    """One requirement held against a run.

    Attributes:
        holds: None where the run does not show it.
        reason: what was found, as a sentence.
        layer: the layer it is about, None for answers, calls and files.
        is_open: whether it hangs on a verdict that is open; `holds` is None then.
        cause: why that is open, where its score states it.
        errored: it does not hold, and by no fault of the agent; `holds` is None then.
        is_judged: whether there was nothing to judge, or a verdict; False of a layer that was left unjudged,
            although the requirement may hold.
        is_evidence: whether something was looked at; False of a layer without a verdict, which fails nothing
            and shows nothing.
    """

    requirement: str
    holds: bool | None
    reason: str
    layer: Layer | None = None
    is_open: bool = False
    cause: Cause | None = None
    errored: bool = False
    is_judged: bool = True
    is_evidence: bool = True


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an agent's work on a case left.

    Attributes:
        run: the run, judged; None where it left no trace.
        returned: what the agent returned, used where the trace has no answer.
        files: the content of those files of its work directory that requirements name; None where there is no
            work directory to look at.
        requests: calls over HTTP to the hosts that the case has records of.
    """

    run: RunEvaluation | None
    returned: str | None = None
    files: Mapping[str, bytes] | None = None
    requests: Sequence[HttpRequest] = ()


@dataclass(frozen=True, slots=True)
class Requirement(ABC):
    """One entry of `must`, or of `must_not` where `negated`."""

    entry: JsonValue
    negated: bool

    def evaluate(self, attempt: Attempt) -> Finding:
        """Return whether this attempt meets it."""
        met, reason = self._compare(attempt)
        if met is not None:
            return Finding(str(self), met is not self.negated, reason, self.layer)
        unsettled = self._find_open(attempt)
        cause = unsettled.cause if unsettled is not None else None
        return Finding(str(self), None, reason, self.layer, unsettled is not None, cause)

    @property
    def layer(self) -> Layer | None:
        """The layer it is about, None for answers, calls and files."""
        return None

    @abstractmethod
    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        """Whether the attempt does what the entry describes, and what was found."""

    def _find_open(self, attempt: Attempt) -> Scored | None:
        """Return the open verdict that it hangs on; None where what is missing is another thing."""
        return None

    def __str__(self) -> str:
        if isinstance(self.entry, str):
            entry = self.entry
        else:
            entry = json.dumps(self.entry, ensure_ascii=False)
        return f"must not: {entry}" if self.negated else entry


@dataclass(frozen=True, slots=True)
class ScoreRequirement(Requirement):
    """An assertion of the gate over the scores of one run."""

    assertion: CaseAssertion

    @property
    def layer(self) -> Layer | None:
        """The layer of the score."""
        return self.assertion.score.layer

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        run = attempt.run
        if run is None:
            return None, _NO_RUN
        (report,) = evaluate_assertions([self.assertion], run.scores).assertions
        failing = next(iter(report.failing), None)
        if failing and failing.explanation:
            reason = failing.explanation
        else:
            reason = report.reason
        match report.verdict:
            case Verdict.PASSED:
                return True, _describe_own_score(run, self.assertion) or reason
            case Verdict.FAILED:
                return False, reason
            case _:
                return None, reason

    def _find_open(self, attempt: Attempt) -> Scored | None:
        name = (self.assertion.score.layer, self.assertion.score.row_name)
        scores = attempt.run.scores if attempt.run is not None else ()
        mine = [score for score in scores if (score.layer, score.name) == name]
        # What errored is graver: it is not the open one alone that is missing.
        if any(isinstance(score.outcome, Errored) for score in mine):
            return None
        unsettled = (score for score in mine if find_state(*name, score.outcome) is State.OPEN)
        return next((score.outcome for score in unsettled if isinstance(score.outcome, Scored)), None)


@dataclass(frozen=True, slots=True)
class AnswerRequirement(Requirement):
    """A condition on the final answer."""

    condition: Condition

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        run, returned = attempt.run, attempt.returned
        answer = run.run.answer if run is not None else None
        if answer is None and returned is not None:
            answer = Payload(returned, returned)
        if answer is None:
            is_hidden = run is not None and run.run.hidden
            if is_hidden:
                return (None, "the answer is hidden")
            return (False, "the run has no answer")
        return self.condition.evaluate("the answer", answer)


@dataclass(frozen=True, slots=True)
class FileRequirement(Requirement):
    """A file that the agent leaves in its work directory.

    Attributes:
        path: relative to the work directory.
        condition: on its text; None where it must be there, whatever it holds.
    """

    path: str
    condition: Condition | None

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        if attempt.files is None:
            return None, "a service has no work directory to look at"
        content = attempt.files.get(self.path)
        if content is None:
            return False, f"it left no file {self.path} that can be read"
        if self.condition is None:
            return True, f"it left the file {self.path}"
        text = content.decode("utf-8", "replace")
        return self.condition.evaluate(self.path, Payload(text, text))


@dataclass(frozen=True, slots=True)
class CallRequirement(Requirement):
    """A tool call of the run; `args` names the arguments that are compared, others may be anything.

    Attributes:
        count: how many such calls there must be; None where one will do.
    """

    tool: str
    args: Mapping[str, JsonValue]
    count: int | None = None

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        if attempt.run is None:
            return None, _NO_RUN
        if self.count is not None:
            return self._count_calls(attempt.run)
        calls = [call for step in attempt.run.run.steps for call in step.calls if call.tool == self.tool]
        if not calls:
            return False, f"{self.tool} was not called"
        for call in calls:
            if self._fits(call.args, call.kwargs):
                return (
                    True,
                    f"{self.tool} was called with {format_short_line(_format_call(call.args, call.kwargs))}",
                )
        last = calls[-1]
        return False, f"{self.tool} was called with {format_short_line(_format_call(last.args, last.kwargs))}"

    def _count_calls(self, run: RunEvaluation) -> tuple[bool, str]:
        calls = [call for step in run.run.steps for call in step.calls if call.tool == self.tool]
        fitting = sum(self._fits(call.args, call.kwargs) for call in calls)
        return fitting == self.count, f"{self.tool} was called so {fitting} times, not {self.count}"

    def _fits(self, args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> bool:
        values = list(args)
        # What is passed by position has no name on record: its value must be among them.
        return all(
            kwargs[name] == value if name in kwargs else value in values for name, value in self.args.items()
        )


@dataclass(frozen=True, slots=True)
class RequestRequirement(Requirement):
    """A call over HTTP, through the proxy of the case's recorded HTTP or by a tool.

    Attributes:
        count: how many such calls there must be; None where one will do.
    """

    pattern: RequestPattern
    count: int | None = None

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        of_tools = [
            request
            for step in (attempt.run.run.steps if attempt.run is not None else ())
            for call in step.calls
            if (request := find_request(call.tool, call.kwargs)) is not None
        ]
        # A tool that goes through the proxy is one call, recorded twice.
        requests = [*attempt.requests] or of_tools
        fitting = sum(map(self.pattern.matches, requests))
        name = f"{self.pattern.method} {self.pattern.url}"
        if self.count is not None:
            return fitting == self.count, f"{name} was called so {fitting} times, not {self.count}"
        if fitting:
            return True, f"{name} was called"
        others = ", ".join(format_short_line(str(request)) for request in requests[-_SHOWN_CALLS:])
        return False, f"{name} was not called so" + (f"; the calls were {others}" if others else "")


@dataclass(frozen=True, slots=True)
class KnownEndpoints(Requirement):
    """No call to an endpoint of a recorded host that the case has no answer to."""

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        unknown = [request for request in attempt.requests if not request.is_recorded]
        if not unknown:
            return True, "every call over HTTP is on record"
        return False, f"the case has no answer to {format_short_line(str(unknown[0]))}"

    def __str__(self) -> str:
        return "calls over HTTP are those that the case has answers to"


@dataclass(frozen=True, slots=True)
class NoFailure(Requirement):
    """A layer must not *fail*: what a case requires of every layer that it does not leave out.

    A layer that is open does not meet it: whether it fails is not known.

    Attributes:
        judged: whether the layer may not be skipped; it was judged when the case was promoted as a failure.
        open_allowed: whether an open layer meets it, where something else judges the work.
        trace_needed: whether a run without a trace cannot meet it.
    """

    about: Layer
    judged: bool
    open_allowed: bool = False
    trace_needed: bool = True

    def evaluate(self, attempt: Attempt) -> Finding:
        """Return whether this attempt meets it, and whether the layer was judged."""
        # No super(): a dataclass with slots is another class than the one that this method was made for.
        finding = Requirement.evaluate(self, attempt)
        outcome = attempt.run.layers.get(self.about) if attempt.run is not None else None
        is_left = isinstance(outcome, Skipped) and outcome.cause in LEFT_UNJUDGED
        return replace(
            finding,
            is_judged=outcome is not None and not is_left,
            is_evidence=get_state(outcome).is_judged,
        )

    @property
    def layer(self) -> Layer | None:
        """The layer."""
        return self.about

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        if attempt.run is None:
            return (None if self.trace_needed else False), _NO_RUN
        outcome = attempt.run.layers.get(self.about)
        if outcome is not None:
            reason = _describe_outcome(outcome)
        else:
            reason = f"{self.about.value} was not judged"
        match get_state(outcome):
            case State.FAIL:
                return True, reason
            case State.PASS:
                return False, reason
            case State.SKIPPED:
                return (None if self.judged else False), reason
            case State.OPEN if self.open_allowed:
                return False, reason
            case State.OPEN | State.ERRORED:
                return None, reason

    def _find_open(self, attempt: Attempt) -> Scored | None:
        outcome = attempt.run.layers.get(self.about) if attempt.run is not None else None
        if isinstance(outcome, Scored) and get_state(outcome) is State.OPEN:
            return outcome
        return None


def _describe_outcome(outcome: Outcome) -> str:
    match outcome:
        case Scored(explanation=explanation):
            return explanation
        case Skipped(reason):
            return reason
        case Errored(error_type, message):
            return f"{error_type}: {message}"


@dataclass(frozen=True, slots=True)
class TestsPass(Requirement):
    """All tests of the case ran and passed: what every case with tests requires, whatever else it does."""

    __test__ = False

    def evaluate(self, attempt: Attempt) -> Finding:
        """Return whether the tests passed; `errored` where they could not run by no fault of the agent."""
        # No super(): a dataclass with slots is another class than the one that this method was made for.
        finding = Requirement.evaluate(self, attempt)
        return replace(finding, errored=finding.holds is None)

    @property
    def layer(self) -> Layer | None:
        """The layer whose score the tests are."""
        return Layer.CORRECTNESS

    def _compare(self, attempt: Attempt) -> tuple[bool | None, str]:
        if attempt.run is None:
            return False, f"the case's tests could not be run: {_NO_RUN}"
        of_layer = [score for score in attempt.run.scores if score.layer is Layer.CORRECTNESS]
        # Where the layer could not judge at all, its own score says why.
        for name in ("tests_pass", Layer.CORRECTNESS.value):
            outcome = next((score.outcome for score in of_layer if score.name == name), None)
            match outcome:
                case Scored() if name == "tests_pass":
                    return get_state(outcome) is State.PASS, outcome.explanation
                case Errored(error_type, message):
                    return None, f"{error_type}: {message}"
                case Skipped(reason):
                    return None, f"the case's tests were not run: {reason}"
        return None, "the case's tests were not run"


def list_endpoint_requirements() -> tuple[Requirement, ...]:
    """Return what a case with recorded HTTP requires: that nothing else is called at its hosts."""
    return (KnownEndpoints("", negated=False),)


def list_test_requirements() -> tuple[Requirement, ...]:
    """Return the requirement that all tests of a case ran and passed."""
    return (TestsPass("all tests of the case pass", negated=False),)


def list_failure_requirements(
    failed_before: Iterable[Layer] = (),
    *,
    layers: Iterable[Layer] = tuple(Layer),
    open_allowed: bool = False,
    trace_needed: bool = True,
) -> tuple[Requirement, ...]:
    """Return the requirements that no layer fails or is open; those that failed before must be judged.

    Args:
        failed_before: the layers that failed when the case was promoted.
        layers: those that are required.
        open_allowed: whether the other layers may be open, as something else judges the work.
        trace_needed: whether a run without a trace cannot meet them.
    """
    before = set(failed_before)
    return tuple(
        NoFailure(
            f"{layer.value}.score == fail",
            negated=True,
            about=layer,
            judged=layer in before,
            open_allowed=open_allowed and layer not in before,
            trace_needed=trace_needed,
        )
        for layer in layers
    )


def encode_answer(expected: JsonValue, text_key: str = "contains") -> JsonValue:
    """Return the entry of `must` for an expected answer: text, a number, or other JSON that it equals."""
    match expected:
        case bool() | dict() | list():
            return {"answer": {"equals": expected}}
        case int() | float():
            return {"answer": {"number": expected}}
        case _:
            return {"answer": {text_key: str(expected)}}


def list_answer_requirements(expected: JsonValue) -> tuple[Requirement, ...]:
    """Return the requirement of an expected answer."""
    return read_requirements("expected", [encode_answer(expected)], None)


def read_requirements(location: str, must: object, must_not: object) -> tuple[Requirement, ...]:
    """Return the requirements of a case.

    Args:
        location: the file, for errors.
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
            raise SuiteError(f"{location}: {key} must be a list, got {type(entries).__name__}")
        for number, entry in enumerate(entries, start=1):
            try:
                found.append(_read_entry(entry, negated=key == "must_not"))
            except (TypeError, ValueError, GateError) as problem:
                raise SuiteError(f"{location}: {key}, entry {number}: {problem}") from problem
    return tuple(found)


def encode_requirements(requirements: Iterable[Requirement]) -> dict[str, list[JsonValue]]:
    """Return `must` and `must_not` as `case.yaml` holds them; an empty one is left out."""
    must: list[JsonValue] = []
    must_not: list[JsonValue] = []
    for requirement in requirements:
        (must_not if requirement.negated else must).append(requirement.entry)
    return {key: entries for key, entries in (("must", must), ("must_not", must_not)) if entries}


def _read_entry(entry: object, *, negated: bool) -> Requirement:
    if isinstance(entry, str):
        assertion = parse_assertion(entry if " for " in entry else f"{entry} for all cases")
        if not isinstance(assertion, CaseAssertion):
            raise TypeError(f"{assertion.subject} is over many cases: give it to `spanproof gate`")
        return ScoreRequirement(entry, negated, assertion)
    if isinstance(entry, dict) and len(entry) == 1:
        ((kind, about),) = entry.items()
        if kind == "answer" and isinstance(about, dict):
            return _read_answer(entry, about, negated=negated)
        if kind == "call" and isinstance(about, str):
            about = {"tool": about}
        if kind == "call" and isinstance(about, dict):
            return _read_call(entry, about, negated=negated)
        if kind == "file" and isinstance(about, dict):
            return _read_file(entry, about, negated=negated)
    raise ValueError(
        "expected an assertion ('groundedness.score == pass'), answer: {contains: …}, call: {tool: …} or"
        f" file: {{path: …}}, got {format_short_line(str(entry))}"
    )


def _read_answer(entry: Any, about: Mapping[str, Any], *, negated: bool) -> Requirement:
    return AnswerRequirement(entry, negated, read_condition("answer", about))


def _read_file(entry: Any, about: Mapping[str, Any], *, negated: bool) -> Requirement:
    path = about.get("path")
    if not isinstance(path, str):
        raise TypeError("file takes path, a name beneath the work directory, and a condition as answer does")
    check_relative(path)
    rest = {key: value for key, value in about.items() if key != "path"}
    condition = read_condition("file", rest) if rest else None
    return FileRequirement(entry, negated, path, condition)


def check_relative(path: str) -> None:
    """Refuse a path that leaves the work directory.

    Raises:
        ValueError: it is absolute, or climbs.
    """
    if PurePosixPath(path).is_absolute() or {"..", ""} & set(path.split("/")):
        raise ValueError(f"{path!r} is no path beneath the work directory")


def _read_call(entry: Any, about: Mapping[str, Any], *, negated: bool) -> Requirement:
    tool, args = about.get("tool"), about.get("args", {})
    count, query, body = about.get("count"), about.get("query", {}), about.get("body")
    is_count = count is None or (type(count) is int and count >= 0)
    if isinstance(tool, str) and isinstance(query, dict):
        pattern = find_pattern(tool, query, body)
    else:
        pattern = None
    own_keys = {"query", "body"} if pattern is not None else {"args"}
    if not isinstance(tool, str) or not isinstance(args, dict) or not is_count:
        raise ValueError("call takes tool, a name, args, a mapping of argument names to values, and count")
    if set(about) - {"tool", "count"} - own_keys:
        raise ValueError("call takes tool, args and count; over HTTP (GET https://…) query, body and count")
    if pattern is not None:
        return RequestRequirement(entry, negated, pattern, count)
    return CallRequirement(entry, negated, tool, args, count)


def _describe_own_score(run: RunEvaluation, assertion: CaseAssertion) -> str:
    layer, name = assertion.score.layer, assertion.score.row_name
    outcomes = (score.outcome for score in run.scores if score.layer is layer and score.name == name)
    return next((outcome.explanation for outcome in outcomes if isinstance(outcome, Scored)), "")


def _format_call(args: Sequence[JsonValue], kwargs: Mapping[str, JsonValue]) -> str:
    parts = [repr(value) for value in args] + [f"{name}={value!r}" for name, value in kwargs.items()]
    return f"({', '.join(parts)})"


def list_required_files(requirements: Iterable[Requirement]) -> frozenset[str]:
    """Return the files of the work directory that requirements are about."""
    return frozenset(
        requirement.path for requirement in requirements if isinstance(requirement, FileRequirement)
    )
