"""Failures that code caught and kept silent about: the code ended well, and what it was after did not come.

In: the source of code that ended well, and the outcomes of the calls it made. Out: the outcome of the code
where every call of it failed or came back empty, and nothing else of it brings data, else None. A look-up
whose error says that there is no such thing, and whose handler puts nothing in its place, came back empty.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from spanproof.evaluators.outcomes.claims import acts
from spanproof.evaluators.outcomes.failing import COMMON, find_bound_names, find_called_names, parse_python
from spanproof.evaluators.outcomes.model import FAILING, NOT_DONE, KnownBy, State, StepOutcome

_ABSENT_TYPE = re.compile(r"(?:Lookup|Key|Index)Error|\w*NotFound(?:Error)?|\w*DoesNotExist|\w*NoResult\w*")
_ABSENT = re.compile(
    r"\b404\b|\b(?:not|n.t) (?:be )?found\b|\w+_NOT_FOUND\b|\bnot on file\b"
    r"|\bno \w+ (?:of|with|by|for) (?:that|this)\b|\bno such"
    r" (?!table|column|function|module|host|tool|option|command)|\bunknown"
    r" (?:id|customer|user|order|product|name|city|key|item|number|account|sensor)\b",
    re.IGNORECASE,
)
_NOT_ABSENT = re.compile(r"(?:Module|Command|Tool|Table|Column)\w*NotFound|ToolNotFound")
_READS = frozenset(
    str.split("open read_csv read_json read_excel read_parquet read_sql glob listdir urlopen requests httpx")
)
_SHORTEST_TEXT = 2


def reports_absence(outcome: StepOutcome) -> bool:
    """Whether a failure says that what was looked for is not there: a look-up that found nothing."""
    kind = outcome.error_type or ""
    if _NOT_ABSENT.search(kind) or _NOT_ABSENT.search(outcome.quote):
        return False
    return _ABSENT_TYPE.fullmatch(kind) is not None or _ABSENT.search(outcome.quote) is not None


def find_swallowed_failure(
    source: str, calls: Sequence[tuple[str, StepOutcome]], ended: StepOutcome
) -> StepOutcome | None:
    """Return the outcome of code that swallowed the failure of all its calls, None where it did not.

    Args:
        source: of code that ended well.
        calls: the tools it called, without those that hand over an answer, and how each call ended.
        ended: the outcome of the code itself.
    """
    if not calls or any(outcome.state not in {*NOT_DONE, State.EMPTY} for _, outcome in calls):
        return None
    tree = parse_python(source)
    if tree is None or _brings_data(tree, {tool for tool, _ in calls}):
        return None
    failed = [(tool, outcome) for tool, outcome in calls if outcome.state in NOT_DONE]
    if not failed:
        looked_up = not any(acts(tool) for tool, _ in calls) and _shows(tree)
        return replace(ended, state=State.EMPTY) if looked_up else None
    # A failed call says more about the code than a refused one.
    last = next((outcome for _, outcome in reversed(failed) if outcome.state in FAILING), failed[-1][1])
    calls = failed
    if all(reports_absence(outcome) for _, outcome in calls) and not any(_puts_in_place(tree)):
        return StepOutcome(
            State.EMPTY, ended.failure_class, KnownBy.SWALLOWED, None, last.quote, ended.recorded
        )
    return make_swallowed_outcome(last, ended)


def make_swallowed_outcome(failure: StepOutcome, ended: StepOutcome) -> StepOutcome:
    """Return the outcome of code that swallowed this failure, or this refusal."""
    return replace(
        failure, known_by=KnownBy.SWALLOWED, recorded=failure.failure_class, replayed=ended.replayed
    )


def _brings_data(tree: ast.Module, tools: Collection[str]) -> bool:
    """Whether code reads a file, a variable of an earlier step, or calls what the trace has no call of."""
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & _READS
    own = (
        find_bound_names(tree)
        | set(_find_imported_names(tree))
        | set(_find_parameter_names(tree))
        | set(_find_handler_names(tree))
    )
    own |= {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return bool(names & _READS) or bool(names - own - COMMON - set(tools))


def _shows(tree: ast.Module) -> bool:
    """Whether code prints something, or ends with a value: a call alone may give nothing by nature."""
    last = tree.body[-1] if tree.body else None
    ends_with_value = isinstance(last, ast.Expr) and not isinstance(last.value, ast.Call)
    return ends_with_value or "print" in find_called_names(tree)


def _find_imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)


def _find_parameter_names(tree: ast.Module) -> Iterator[str]:
    yield from (node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))


def _find_handler_names(tree: ast.Module) -> Iterator[str]:
    handlers = (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler))
    yield from (handler.name for handler in handlers if handler.name)


def _puts_in_place(tree: ast.Module) -> Iterator[bool]:
    """Yield for each handler whether it assigns, returns or hands over a value of its own."""
    for handler in (node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)):
        for node in (part for statement in handler.body for part in ast.walk(statement)):
            value = node.value if isinstance(node, ast.Assign | ast.Return | ast.AugAssign) else None
            if value is not None:
                yield any(map(_is_value, ast.walk(value))) or isinstance(value, ast.Name)


def _is_value(node: ast.AST) -> bool:
    if not isinstance(node, ast.Constant) or node.value is None or isinstance(node.value, bool):
        return False
    return not isinstance(node.value, str) or len(node.value.strip()) >= _SHORTEST_TEXT
