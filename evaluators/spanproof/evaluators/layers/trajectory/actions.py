"""A run's steps as actions: what was done and what came of it.

In: the evidence about a run (or bare steps, for the batch interface). Out: `Action`s in order. Code is an
action as a tool call is; both have a signature under which the same action is recognised again, once exactly
and once with its literals masked. Nothing is executed: code is parsed at most.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spanproof.evaluators.layers.common import ANSWER_TOOLS, unseen_output
from spanproof.evaluators.layers.trajectory.causes import signature
from spanproof.evaluators.layers.trajectory.unsourced import Turn
from spanproof.evaluators.model import Replay, RunEvidence
from spanproof.evaluators.runs import spans_of
from spanproof.sandbox import FailureClass
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.trace import JsonValue, Payload, RecordedCall, Snippet, SpanError, SpanKind, Step, digest

CODE, REPLY = "code", "reply"
"""Names of actions that are no tool call: code, and a reply of the model that asked for nothing that ran."""

MAX_PARSED_CHARS = 100_000
MAX_KEPT_CHARS = 50_000
"""Characters of a result or of the model's words that are looked at."""

_COMMENT = re.compile(r"(?m)(?<=\s)#.*$|^#.*$")
LITERAL = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\b\d[\w.]*")
_NAME = re.compile(r"[^\W\d]\w*")
_FENCED = re.compile(r"```.*?(?:```|\Z)|<code>.*?(?:</code>|\Z)", re.DOTALL)
_DESTRUCTIVE_NAME = re.compile(
    r"(?:^|[_.\-])(?:delete|drop|destroy|purge|wipe|truncate|erase|rm|format)(?:$|[_.\-])", re.IGNORECASE
)
_DESTRUCTIVE_TEXT = re.compile(
    r"\brm\s+-\w*[rf]|\bDROP\s+(?:TABLE|DATABASE|SCHEMA)\b|\bTRUNCATE\s+TABLE\b"
    r"|\bDELETE\s+FROM\s+\w+\s*(?:;|$)|\bmkfs\b|\bdd\s+if=|\bgit\s+push\s+--force|\bshutil\.rmtree\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the agent did.

    Attributes:
        name: the tool, or `code`.
        exact: digest of what was done, white space and comments aside.
        shape: the same with literals masked.
        words: the names in it, by which nearly the same action is told.
        text: what was done: the source, the arguments as JSON.
        thought: the model's own words of the step, None where the trace holds none.
        error: the error's signature, None where it succeeded.
        error_text: the error as it was told.
        outcome: digest of what came back, None where nothing did.
        result: what came back, its beginning.
        answers: it only hands over the answer.
        unsafe: why it should not have been done, None where nothing speaks against it.
        doubtful: the scan could not settle it.
    """

    step: int
    span_id: str
    name: str
    exact: str
    shape: str
    words: frozenset[str] = frozenset()
    text: str = ""
    thought: str | None = None
    error: str | None = None
    error_text: str = ""
    outcome: str | None = None
    result: str = ""
    answers: bool = False
    unsafe: str | None = None
    doubtful: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether it did something for the task, without an error."""
        return self.error is None and not self.answers


def actions_of(evidence: RunEvidence) -> list[Action]:
    """The actions of a run, in order."""
    return [action for step in evidence.run.steps for action in _of_step(step, evidence)]


def turns_of(evidence: RunEvidence) -> list[Turn]:
    """The steps of a run, those in which the model only spoke included."""
    return [_turn(step, evidence.run.answer) for step in evidence.run.steps]


def read_by(evidence: RunEvidence) -> str:
    """What the model calls were given and did not say themselves: prompts, users' words, tools' answers."""
    texts: dict[str, None] = {}
    for span in spans_of(evidence.trace, evidence.run):
        if span.kind is SpanKind.LLM:
            texts |= {message.text: None for message in span.input_messages if message.role != "assistant"}
            if not span.input_messages and span.input is not None:
                texts[span.input.text] = None
    return "\n".join(texts)


def turns_in(actions: Sequence[Action]) -> list[Turn]:
    """A turn for each action, where nothing else is known of the steps."""
    return [
        Turn(
            action.step,
            action.span_id,
            action.thought or "",
            action.text,
            f"{action.result} {action.error_text}",
        )
        for action in actions
    ]


def _turn(step: Step, answer: Payload | None) -> Turn:
    """One step; of the step that answers, the answer is no statement of this layer's."""
    sources = [snippet.source for snippet in step.snippets]
    words = thought_of(step.text, "\n".join(sources)) or ""
    if answer is not None:
        words = words.replace(answer.text.strip(), " ") if answer.text.strip() else words
    given = [json.dumps([*call.args, *call.kwargs.values()], default=str) for call in step.calls]
    shown = [step.observation, _told(step.error)]
    shown += [text for snippet in step.snippets for text in (snippet.observation, snippet.logs)]
    shown += [call.result.text for call in step.calls if call.result]
    shown += [_told(call.error) for call in step.calls]
    return Turn(
        step.number, step.span_id, words, "\n".join([*sources, *given]), "\n".join(filter(None, shown))
    )


def code_action(
    step: int,
    span_id: str,
    source: str,
    *,
    error: str | None,
    observation: str | None,
    scan: Scan | None,
    thought: str | None = None,
) -> Action:
    """The action of one piece of code."""
    plain = normal_code(source)
    return Action(
        step=step,
        span_id=span_id,
        name=CODE,
        exact=digest("code", plain),
        shape=digest("code", LITERAL.sub("?", plain)),
        words=frozenset(_NAME.findall(plain[:MAX_PARSED_CHARS])),
        text=source,
        thought=thought,
        error=signature(error) if error is not None else None,
        error_text=_bounded_error(error),
        outcome=digest("outcome", observation.strip()) if observation and observation.strip() else None,
        result=(observation or "")[:MAX_KEPT_CHARS],
        answers=only_answers(source),
        unsafe=_denied(scan),
        doubtful=scan is not None and scan.verdict is Verdict.REVIEW,
    )


def call_action(
    step: int,
    span_id: str,
    tool: str,
    arguments: JsonValue,
    *,
    error: str | None,
    result: str | None,
    thought: str | None = None,
) -> Action:
    """The action of one tool call."""
    written = json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)
    return Action(
        step=step,
        span_id=span_id,
        name=tool,
        exact=digest("call", tool, written),
        shape=digest("call", tool, LITERAL.sub("?", written)),
        words=frozenset((tool, *_NAME.findall(written[:MAX_PARSED_CHARS]))),
        text=written[:MAX_PARSED_CHARS],
        thought=thought,
        error=signature(error) if error is not None else None,
        error_text=_bounded_error(error),
        outcome=digest("outcome", result.strip()) if result and result.strip() else None,
        result=(result or "")[:MAX_KEPT_CHARS],
        answers=tool in ANSWER_TOOLS,
        unsafe=_destructive(tool, written),
    )


def _bounded_error(error: str | None) -> str:
    """An error's end, where the exception stands."""
    return (error or "")[-2_000:]


def normal_code(source: str) -> str:
    """Code with comments and differences of white space removed."""
    return " ".join(_COMMENT.sub("", source).split())


def only_answers(source: str) -> bool:
    """Whether code does nothing but hand over an answer written down in it."""
    if "final_answer" not in source or len(source) > MAX_PARSED_CHARS:
        return False
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(statements) and all(_hands_over_a_constant(statement) for statement in statements)


def _hands_over_a_constant(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    named = isinstance(call.func, ast.Name) and call.func.id in ANSWER_TOOLS
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return named and all(isinstance(argument, ast.Constant) for argument in given)


def _of_step(step: Step, evidence: RunEvidence) -> Iterator[Action]:
    executed = [snippet for snippet in step.snippets if snippet.executed]
    in_code = {call.span_id for snippet in executed for call in snippet.tape if call.span_id}
    in_code |= {snippet.span_id for snippet in executed}
    for snippet in executed:
        error = _snippet_error(snippet, step, evidence)
        yield code_action(
            step.number,
            snippet.span_id,
            snippet.source,
            error=error,
            observation=snippet.observation or snippet.logs or step.observation,
            scan=evidence.scans.get(snippet.id),
            thought=thought_of(step.text, snippet.source),
        )
    outer = [call for call in step.calls if not executed or not _within(call, executed, in_code)]
    for call in outer:
        yield _of_call(step, call)
    if not executed:
        yield from _unseen(step)
    if not executed and not outer:
        yield from _asked_in_vain(step)


def thought_of(text: str, source: str = "") -> str | None:
    """The model's words without its code; None where the step's text is not on the trace."""
    if not text.strip():
        return None
    words = _FENCED.sub(" ", text[:MAX_KEPT_CHARS])
    if source.strip():
        words = words.replace(source.strip(), " ")
    return words.strip()


def _within(call: RecordedCall, executed: list[Snippet], spans: set[str | None] | set[str]) -> bool:
    """Whether a call was made by a snippet, or is the very call that ran one."""
    if call.span_id in spans or any(call in snippet.tape for snippet in executed):
        return True
    given = [*call.args, *call.kwargs.values()]
    return any(snippet.source == value for snippet in executed for value in given)


def _unseen(step: Step) -> Iterator[Action]:
    """Code that is not on the trace but whose printed output is."""
    printed = unseen_output(step)
    if printed:
        outcome = digest("outcome", printed)
        yield Action(
            step.number, step.span_id, CODE, digest("unseen", str(step.number)), "unseen", outcome=outcome
        )


def _of_call(step: Step, call: RecordedCall) -> Action:
    arguments: dict[str, JsonValue] = dict(call.kwargs)
    if call.args:
        arguments["args"] = list(call.args)
    result = call.result.text if call.result else None
    return call_action(
        step.number,
        call.span_id or step.span_id,
        call.tool,
        arguments,
        error=_told(call.error),
        result=result,
        thought=thought_of(step.text),
    )


def _asked_in_vain(step: Step) -> Iterator[Action]:
    """Calls the model asked for that never ran: they failed where the step did."""
    for call in step.asked:
        yield call_action(
            step.number,
            step.span_id,
            call.name,
            call.arguments,
            error=_told(step.error),
            result=step.observation,
            thought=thought_of(step.text),
        )
    if not step.asked and step.error is not None:
        error = _told(step.error)
        yield Action(
            step.number,
            step.span_id,
            REPLY,
            digest("reply", step.text),
            digest("reply"),
            error=error and signature(error),
            error_text=_bounded_error(error),
        )


def _snippet_error(snippet: Snippet, step: Step, evidence: RunEvidence) -> str | None:
    """The recorded error; where nothing at all is recorded, the replay's."""
    recorded = _told(snippet.error) or _told(step.error)
    if recorded is not None:
        return recorded
    if snippet.observation or snippet.logs or snippet.output or step.observation:
        return None
    again = evidence.replay.step(snippet.id) if isinstance(evidence.replay, Replay) else None
    if (
        again is None
        or again.divergences
        or again.execution.failure_class in (FailureClass.OK, FailureClass.SANDBOX_UNAVAILABLE)
    ):
        return None
    raised = again.execution.raised
    return f"{raised.type}: {raised.message}" if raised else again.execution.failure_class.value


def _told(error: SpanError | None) -> str | None:
    if error is None:
        return None
    return f"{error.type or 'error'}: {error.message}"


def _denied(scan: Scan | None) -> str | None:
    if scan is None or scan.verdict is not Verdict.DENY:
        return None
    denying = [finding.message for finding in scan.findings if finding.verdict is Verdict.DENY]
    return denying[0] if denying else "the scan denies it"


def _destructive(tool: str, arguments: str) -> str | None:
    if _DESTRUCTIVE_NAME.search(tool):
        return f"the call to {tool} destroys something"
    found = _DESTRUCTIVE_TEXT.search(arguments[:20_000])
    return f"{found.group()!r} in a call to {tool}" if found else None


def of_steps(steps: list[Mapping[str, JsonValue]], scans: list[Scan | None]) -> list[Action]:
    """Actions of bare steps, as the batch interface takes them: `code`, `observation`, `error`."""
    actions: list[Action] = []
    for number, (step, scan) in enumerate(zip(steps, scans, strict=True), start=1):
        error, observation = step.get("error"), step.get("observation")
        actions.append(
            code_action(
                number,
                str(number),
                str(step.get("code") or ""),
                error=_written(error) if error else None,
                observation=_written(observation) if observation is not None else None,
                scan=scan,
                thought=thought_of(str(step.get("thought") or "")),
            )
        )
    return actions


def _written(value: JsonValue) -> str:
    if isinstance(value, dict):
        return f"{value.get('type') or 'error'}: {value.get('message') or ''}"
    return value if isinstance(value, str) else json.dumps(value)
