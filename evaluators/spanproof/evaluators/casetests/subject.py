"""The code under test as one program: the run's own steps in order, its tools answered from the record.

Takes a run and which of its snippets is meant; gives source that a sandbox runs from a fresh state. A step
that failed on record may fail again, as the agent went on from there; any other failure ends the program. The
stubs of tools hold recorded answers only, never a test.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass

from spanproof.evaluators import call_matching
from spanproof.evaluators.model import UnrunCause
from spanproof.evaluators.replay.names import Names, list_unbound_calls, read_names, without_code_after_answer
from spanproof.evaluators.replay.prelude import FINAL_ANSWER, build_prelude
from spanproof.evaluators.replay.record import read_record
from spanproof.evaluators.replay.tape import DIVERGED, Tape
from spanproof.sandbox import FailureClass, ToolRequest
from spanproof.trace import Language, RecordedCall, Run, Snippet

# The rule by which the tape of a replay matches calls: the stubs run this very text.
_MATCHING = inspect.getsource(call_matching)

_STUBS = """
class {diverged}(Exception): pass
def _stub(tool, calls, rule):
    import builtins, json
    recorded = [(call["args"], call["kwargs"]) for call in calls]
    known, used = rule["RecordedCalls"](rule["list_parameters"](recorded), recorded), set()
    def plain(value):
        return json.loads(json.dumps(value, default=lambda other: getattr(other, "tolist", other.__repr__)()))
    def stub(*args, **kwargs):
        for at in known.list_matching(plain(args), plain(kwargs)):
            if at in used:
                continue
            used.add(at)
            error = calls[at]["error"]
            if error:
                name = error[0].rpartition(".")[2]
                kind = getattr(builtins, name, None)
                is_error = isinstance(kind, type) and issubclass(kind, Exception)
                raise (kind if is_error else type(name, (Exception,), {{}}))(error[1])
            return calls[at]["result"]
        raise {diverged}("the record has no further call " + tool + " with these arguments")
    stub.__name__ = tool
    return stub
def _lay_out(text, matching):
    import json
    rule = {{}}
    exec(compile(matching, "<matching>", "exec"), rule)
    for tool, calls in json.loads(text).items():
        globals()[tool] = _stub(tool, calls, rule)
_lay_out({tape!r}, {matching!r})
del _stub, _lay_out
"""

_STEPS = """
def _take(steps):
    import json
    for number, (source, may_fail) in enumerate(json.loads(steps), 1):
        try:
            exec(compile(source, "<step %d>" % number, "exec"), globals())
        except Exception:
            if not may_fail:
                raise
_take({steps!r})
del _take
"""


@dataclass(frozen=True, slots=True)
class Subject:
    """The code under test.

    Attributes:
        source: a whole program.
        own: what of it is the agent's, in order.
        ran_well: whether part of it is recorded as successful.
    """

    source: str
    own: tuple[str, ...]
    ran_well: bool = False


class CannotRun(Exception):  # noqa: N818 - no error of ours
    """The tests of a case cannot be run; the message says why, as a clause."""

    def __init__(self, cause: UnrunCause, reason: str) -> None:
        super().__init__(reason)
        self.cause = cause


def build_subject(run: Run, number: int | None) -> Subject:
    """Build the code that the tests are about.

    Args:
        run: with its snippets.
        number: of the one that is meant, from 1; None takes what ran, or the last that was proposed.

    Raises:
        CannotRun: there is none, or the record does not hold all of it.
    """
    chosen = _select_snippets(run, number)
    _check_record(chosen)
    recorded = [read_record(snippet).failure_class if snippet.executed else None for snippet in chosen]
    ran_well = FailureClass.OK in recorded
    own = tuple(
        without_code_after_answer(snippet.source) if snippet.is_final else snippet.source
        for snippet in chosen
    )
    names = [read_names(source) for source in own]
    stubs = _build_stubs(run, names)
    if len(own) == 1 and not stubs and FINAL_ANSWER not in names[0].called:
        return Subject(own[0], own, ran_well)
    steps = [
        [source, failure_class not in (FailureClass.OK, None)]
        for source, failure_class in zip(own, recorded, strict=True)
    ]
    whole = build_prelude(own, 0) + stubs + _STEPS.format(steps=json.dumps(steps))
    return Subject(whole, own, ran_well)


def _select_snippets(run: Run, number: int | None) -> list[Snippet]:
    python = [snippet for snippet in run.snippets if snippet.language is Language.PYTHON]
    if not python and run.hidden:
        raise CannotRun(UnrunCause.RECORD_INCOMPLETE, "the run's content is hidden, its code too")
    if number is None:
        executed = [snippet for snippet in python if snippet.executed]
        if not python:
            raise CannotRun(UnrunCause.WORK_MISSING, "the run has no Python to test")
        return executed or python[-1:]
    if number > len(run.snippets):
        reason = f"the tests are for snippet {number}, and the run has {len(run.snippets)}"
        raise CannotRun(UnrunCause.WORK_MISSING, reason)
    meant = run.snippets[number - 1]
    if meant.language is not Language.PYTHON:
        raise CannotRun(UnrunCause.WORK_MISSING, f"snippet {number} is {meant.language}, no Python")
    return [meant]


def _check_record(snippets: list[Snippet]) -> None:
    """Check that the trace holds all of the code, and an answer to each of its tool calls.

    Raises:
        CannotRun: it does not.
    """
    if any(snippet.truncated for snippet in snippets):
        raise CannotRun(UnrunCause.RECORD_INCOMPLETE, "the code under test is cut on the trace")
    hidden = next((call for snippet in snippets for call in snippet.tape if not call.replayable), None)
    if hidden is not None and hidden.tool != FINAL_ANSWER:
        reason = f"its tool call {hidden.tool} cannot be answered: {hidden.reason or 'content is hidden'}"
        raise CannotRun(UnrunCause.RECORD_INCOMPLETE, reason)


def _build_stubs(run: Run, names: list[Names]) -> str:
    """Build functions for the tools the code calls, each with what was recorded of it."""
    called = list_unbound_calls(names) - {FINAL_ANSWER}
    recorded = [call for call in _list_calls(run) if call.tool in called]
    if not recorded:
        return ""
    tape: dict[str, list[dict[str, object]]] = {}
    for call in recorded:
        answer = Tape([(call, None)]).handle_request(ToolRequest(call.tool, call.args, call.kwargs))
        error = [answer.error_type, answer.error_message] if answer.error_type else None
        entry: dict[str, object] = {
            "args": list(call.args),
            "kwargs": dict(call.kwargs),
            "result": answer.result,
            "error": error,
        }
        tape.setdefault(call.tool, []).append(entry)
    return _STUBS.format(diverged=DIVERGED, tape=json.dumps(tape), matching=_MATCHING)


def _list_calls(run: Run) -> list[RecordedCall]:
    calls: list[RecordedCall] = []
    for step in run.steps:
        own = [call for snippet in step.snippets if snippet.executed for call in snippet.tape]
        calls += own
        calls += [call for call in step.calls if call not in own]
    return [call for call in calls if call.replayable]
