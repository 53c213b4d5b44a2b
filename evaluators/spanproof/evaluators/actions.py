"""Actions: what an agent did at a time, and its result.

In: a piece of code, a tool call or a reply, with its error and its result. Out: an `Action`. Code is an
action as a tool call is; both have a signature under which the same action is recognised again, once exactly
and once with its literals masked. Nothing is executed: code is parsed at most.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spanproof.reading.error_causes import compute_signature
from spanproof.reading.python_facts import read_python
from spanproof.sandbox.scanners.model import Scan, Verdict
from spanproof.trace import JsonValue, RecordedCall, Refusal, digest

ANSWER_TOOLS = frozenset(("final_answer", "final_result", "submit_answer"))
"""Tools that hand over the answer: calling one does nothing for the task and returns nothing new."""

_ANSWER_ARGUMENTS = ({"answer"}, {"final_answer"}, {"submission"})

# DSPy's `ReAct` ends its loop by a tool that takes nothing; the answer is a field of the module.
_END_OF_LOOP = "finish"

CODE, REPLY = "code", "reply"
"""Names of actions that are no tool call: code, and a reply of the model that called nothing that ran."""

MAX_PARSED_CHARS = 100_000
MAX_KEPT_CHARS = 50_000
"""Characters of a result or of the model's words that are looked at."""

# Nodes of expressions that only name or write down values.
_NAMING = (
    *(ast.Constant, ast.Name, ast.JoinedStr, ast.FormattedValue, ast.Attribute, ast.Subscript, ast.Load),
    *(ast.keyword, ast.Dict, ast.List, ast.Tuple, ast.UnaryOp, ast.USub),
)

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
        words: the names in it, by which a similar action is recognised.
        text: what was done: the source, the arguments as JSON.
        thought: the model's own words of the step, None where the trace holds none.
        error: the error's signature, None where it succeeded.
        error_text: the error as recorded.
        outcome: digest of what came back, None where nothing did.
        result: what came back, its beginning.
        answers: it only hands over the answer.
        unsafe: why it should not have been done, None where nothing speaks against it.
        doubtful: the scan could not settle it.
        refusal: why it was refused, so that it did nothing; None where it was not.
        arguments: of a call, as they were given.
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
    refusal: Refusal | None = None
    arguments: JsonValue = None

    @property
    def succeeded(self) -> bool:
        """Whether it did something for the task, without an error."""
        return self.error is None and self.refusal is None and not self.answers


def make_refused_action(action: Action, refusal: Refusal) -> Action:
    """Make a refused action of this one: it has no error, and its outcome is the refusal."""
    return replace(
        action,
        error=None,
        error_text="",
        outcome=digest("refusal", refusal.by.value, refusal.rule),
        result="",
        refusal=refusal,
    )


def select_allowed(actions: Sequence[Action]) -> list[Action]:
    """Select the actions that no guard, budget or guardrail refused."""
    return [action for action in actions if action.refusal is None]


def is_answer(call: RecordedCall) -> bool:
    """Whether a call only hands over the answer: `submit` given nothing else, `finish` given nothing."""
    return _hands_over(call.tool, call.kwargs)


def _hands_over(tool: str, arguments: JsonValue | Mapping[str, JsonValue]) -> bool:
    if tool in ANSWER_TOOLS or (tool == _END_OF_LOOP and not arguments):
        return True
    return tool == "submit" and isinstance(arguments, Mapping) and set(arguments) in _ANSWER_ARGUMENTS


def make_code_action(
    step: int,
    span_id: str,
    source: str,
    *,
    error: str | None,
    observation: str | None,
    scan: Scan | None,
    thought: str | None = None,
) -> Action:
    """Make the action of one piece of code."""
    plain = normalise_code(source)
    return Action(
        step=step,
        span_id=span_id,
        name=CODE,
        exact=digest("code", plain),
        shape=digest("code", LITERAL.sub("?", plain)),
        words=frozenset(_NAME.findall(plain[:MAX_PARSED_CHARS])),
        text=source,
        thought=thought,
        error=compute_signature(error) if error is not None else None,
        error_text=_cut_error(error),
        outcome=_digest_outcome(observation),
        result=(observation or "")[:MAX_KEPT_CHARS],
        answers=is_answer_only(source),
        unsafe=_explain_denial(scan),
        doubtful=scan is not None and scan.verdict is Verdict.REVIEW,
    )


def make_call_action(
    step: int,
    span_id: str,
    tool: str,
    arguments: JsonValue,
    *,
    error: str | None,
    result: str | None,
    thought: str | None = None,
) -> Action:
    """Make the action of one tool call."""
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
        error=compute_signature(error) if error is not None else None,
        error_text=_cut_error(error),
        outcome=_digest_outcome(result),
        result=(result or "")[:MAX_KEPT_CHARS],
        answers=_hands_over(tool, arguments),
        unsafe=_explain_destruction(tool, written),
        arguments=arguments,
    )


def make_reply_action(step: int, span_id: str, text: str, *, error: str | None) -> Action:
    """Make the action of a reply that called nothing that ran, and failed."""
    return Action(
        step,
        span_id,
        REPLY,
        digest("reply", text),
        digest("reply"),
        error=error and compute_signature(error),
        error_text=_cut_error(error),
    )


def extract_thought(text: str, source: str = "") -> str | None:
    """Return the model's words without its code; None where the step's text is not on the trace."""
    if not text.strip():
        return None
    words = _FENCED.sub(" ", text[:MAX_KEPT_CHARS])
    if source.strip():
        words = words.replace(source.strip(), " ")
    return words.strip()


def normalise_code(source: str) -> str:
    """Code with comments and differences of white space removed."""
    return " ".join(_COMMENT.sub("", source).split())


def is_answer_only(source: str) -> bool:
    """Whether code does nothing but hand over an answer: words, and values that were there before."""
    facts = read_python(source) if "final_answer" in source else None
    return facts is not None and bool(facts.tree.body) and all(map(_is_handover, facts.tree.body))


def _is_handover(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    call = statement.value
    named = isinstance(call.func, ast.Name) and call.func.id in ANSWER_TOOLS
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    parts = [part for argument in arguments for part in ast.walk(argument)]
    return named and all(isinstance(part, _NAMING) or _is_formatting_call(part) for part in parts)


def _is_formatting_call(node: ast.AST) -> bool:
    """Whether a call only puts a value into words: `str(total)`, `round(total, 2)`, `'{}'.format(total)`."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in {"str", "round", "repr", "format"}
    return isinstance(node.func, ast.Attribute) and node.func.attr == "format"


def _digest_outcome(text: str | None) -> str | None:
    """Return the digest of what an action returned; None where it returned nothing but white space."""
    stripped = (text or "").strip()
    return digest("outcome", stripped) if stripped else None


def _cut_error(error: str | None) -> str:
    """Return an error's end, where the exception is."""
    return (error or "")[-2_000:]


def _explain_denial(scan: Scan | None) -> str | None:
    if scan is None or scan.verdict is not Verdict.DENY:
        return None
    denying = [finding.message for finding in scan.findings if finding.verdict is Verdict.DENY]
    return denying[0] if denying else "the scan denies it"


def _explain_destruction(tool: str, arguments: str) -> str | None:
    if _DESTRUCTIVE_NAME.search(tool):
        return f"the call to {tool} destroys something"
    found = _DESTRUCTIVE_TEXT.search(arguments[:20_000])
    return f"{found.group()!r} in a call to {tool}" if found else None
