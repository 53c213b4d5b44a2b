"""Where the values of an answer come from: data flow over the code of a run.

In: the executed Python of a run with the outcomes of its tool calls, the texts that are sources, and the
answer. Out: an `Origin` per number of the answer. A number that a source holds is no finding, nor is one
worked out from a source. What rests on literals of the code, on chance, on the clock or on the default of a
handler alone is fabricated where the run had failed to get its data before. Constants of a problem
are none of these. Code is parsed, never run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from spanproof.evaluators.outcomes.actions import ANSWER_TOOLS
from spanproof.evaluators.outcomes.failing import parsed
from spanproof.evaluators.outcomes.model import Origin, OriginKind

_NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w])")
_SMALL = 12
"""Numbers up to this are counts and indices: they say nothing of where a value comes from."""

_CONSTANTS = frozenset(
    {24, 30, 31, 50, 60, 90, 99, 100, 360, 365, 366, 1000, 1024, 3600, 86400, 10000, 1000000}
)
_READS = frozenset(
    str.split(
        "open read readlines read_csv read_json read_excel read_parquet read_sql read_table "
        "read_html loads load get"
        " post request urlopen execute fetchall fetchone fetchmany connect run check_output popen "
        "Popen system input"
        " getenv environ glob listdir walk cursor query search"
    )
)
_CHANCE = frozenset(
    str.split("random randint uniform choice choices sample normal rand randn randrange gauss shuffle")
)
_CLOCK = frozenset(str.split("now today utcnow time time_ns monotonic perf_counter"))
_FILLS = frozenset({"append", "extend", "add", "update", "insert", "setdefault"})


@dataclass(frozen=True, slots=True)
class CodeStep:
    """One executed Python snippet.

    Attributes:
        printed: what it showed.
        working_tools: tools whose calls gave something in it.
        failing_tools: tools of which every call in it failed.
    """

    step: int
    span_id: str
    source: str
    printed: str
    working_tools: frozenset[str] = frozenset()
    failing_tools: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Mark:
    """A root of a value: where it was written down, or that it comes from a source."""

    kind: OriginKind
    step: int = 0
    span_id: str = ""
    line: int = 0
    text: str = ""


_FROM_SOURCE = _Mark(OriginKind.SOURCE)
_Roots = frozenset[_Mark]
_NONE: _Roots = frozenset()


@dataclass(frozen=True, slots=True)
class _Shown:
    """A value that code printed or handed over, with its roots."""

    code: CodeStep
    roots: _Roots
    answers: bool


@dataclass(slots=True)
class _Flow:
    """The roots of each name, statement by statement, over all snippets of a run."""

    held: frozenset[str]
    names: dict[str, _Roots] = field(default_factory=dict)
    functions: dict[str, ast.AST] = field(default_factory=dict)
    shown: list[_Shown] = field(default_factory=list)
    code: CodeStep = CodeStep(0, "", "", "")
    in_handler: bool = False
    depth: int = 0

    def read(self, code: CodeStep) -> None:
        """Follow the values through one snippet."""
        tree = parsed(code.source)
        self.code = code
        if tree is not None:
            self._block(tree.body)

    def _block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.functions[node.name] = node
            case ast.Assign():
                for target in node.targets:
                    self._bind(target, self._roots(node.value))
            case ast.AnnAssign() if node.value is not None:
                self._bind(node.target, self._roots(node.value))
            case ast.AugAssign():
                self._add(node.target, self._roots(node.value))
            case ast.For() | ast.AsyncFor():
                self._bind(node.target, self._roots(node.iter))
                self._block([*node.body, *node.orelse])
            case ast.While() | ast.If():
                self._block([*node.body, *node.orelse])
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._bind(item.optional_vars, self._roots(item.context_expr))
                self._block(node.body)
            case ast.Try():
                self._block([*node.body, *node.orelse])
                before, self.in_handler = self.in_handler, True
                for handler in node.handlers:
                    self._block(handler.body)
                self.in_handler = before
                self._block(node.finalbody)
            case ast.Expr():
                self._expression(node.value)
            case _:
                pass

    def _expression(self, node: ast.expr) -> None:
        if not isinstance(node, ast.Call):
            self.shown.append(_Shown(self.code, self._roots(node), answers=False))
            return
        given = [*node.args, *(each.value for each in node.keywords)]
        roots = frozenset[_Mark]().union(*map(self._roots, given))
        if isinstance(node.func, ast.Name) and node.func.id in {"print", *ANSWER_TOOLS}:
            self.shown.append(_Shown(self.code, roots, answers=node.func.id != "print"))
        elif isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS:
            self._add(node.func.value, roots)
        else:
            self.shown.append(_Shown(self.code, self._roots(node), answers=False))

    def _bind(self, target: ast.expr, roots: _Roots) -> None:
        if isinstance(target, ast.Name) and not self.in_handler:
            self.names[target.id] = roots
        elif isinstance(target, ast.Name):
            self._add(target, roots)
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._bind(part, roots)
        else:
            self._add(target, roots)

    def _add(self, target: ast.expr, roots: _Roots) -> None:
        for name in (node.id for node in ast.walk(target) if isinstance(node, ast.Name)):
            self.names[name] = self.names.get(name, _NONE) | roots

    def _roots(self, node: ast.AST) -> _Roots:
        match node:
            case ast.Constant():
                return self._literal(node)
            case ast.Name():
                return self.names.get(node.id, _NONE)
            case ast.Call():
                return self._called(node)
            case ast.Lambda():
                return self._roots(node.body)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for generator in node.generators:
                    self._bind(generator.target, self._roots(generator.iter))
        parts = [self._roots(part) for part in ast.iter_child_nodes(node)]
        return frozenset[_Mark]().union(*parts)

    def _literal(self, node: ast.Constant) -> _Roots:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            return _NONE
        if value in _CONSTANTS or (float(value).is_integer() and abs(value) <= _SMALL):
            return _NONE
        if _plain(str(value)) in self.held:
            return frozenset({_FROM_SOURCE})
        kind = OriginKind.DEFAULT if self.in_handler else OriginKind.LITERAL
        return frozenset({self._mark(kind, node)})

    def _mark(self, kind: OriginKind, node: ast.expr) -> _Mark:
        lines = self.code.source.splitlines()
        text = lines[node.lineno - 1].strip() if 0 < node.lineno <= len(lines) else ""
        return _Mark(kind, self.code.step, self.code.span_id, node.lineno, text[:160])

    def _called(self, node: ast.Call) -> _Roots:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in self.code.failing_tools:
            return _NONE
        receiver = self._roots(node.func.value) if isinstance(node.func, ast.Attribute) else _NONE
        given = [*node.args, *(each.value for each in node.keywords)]
        roots = receiver.union(*map(self._roots, given))
        is_method_of_own = isinstance(node.func, ast.Attribute) and bool(receiver)
        if name in self.code.working_tools or (name in _READS and not is_method_of_own):
            return roots | {_FROM_SOURCE}
        if name in _CHANCE:
            return roots | {self._mark(OriginKind.CHANCE, node)}
        if name in _CLOCK and isinstance(node.func, ast.Attribute):
            return roots | {self._mark(OriginKind.CLOCK, node)}
        function = self.functions.get(name)
        if function is not None and self.depth < 3:
            self.depth += 1
            returned = [
                self._roots(part.value)
                for part in ast.walk(function)
                if isinstance(part, ast.Return) and part.value is not None
            ]
            inside = [self._roots(part.value) for part in ast.walk(function) if isinstance(part, ast.Assign)]
            self.depth -= 1
            return roots.union(*returned, *inside)
        return roots


def origins_of(
    answer: str,
    steps: Sequence[CodeStep],
    sources: Sequence[str],
    *,
    nothing_worked: bool,
    lacking_since: int | None,
) -> tuple[Origin, ...]:
    """Return where each number of the answer comes from; those that a source holds first.

    Args:
        answer: as the run gave it.
        steps: its executed Python, in order.
        sources: texts that bear values out: task, prompts, tool results, error texts.
        nothing_worked: no tool call and no code but the answer's gave anything.
        lacking_since: the first step whose failure was not recovered, or that brought nothing; None for none.
    """
    stated = _stated(answer)
    held = frozenset(number for text in sources for number in _numbers(text))
    flow = _Flow(held)
    for code in steps:
        flow.read(code)
    found = [
        _origin(
            written,
            number,
            held,
            flow.shown,
            steps,
            nothing_worked=nothing_worked,
            lacking_since=lacking_since,
        )
        for number, written in stated.items()
    ]
    return tuple(sorted(found, key=lambda origin: origin.fabricated))


def rests_on_literals(steps: Sequence[CodeStep], sources: Sequence[str]) -> frozenset[str]:
    """Return the span ids of code whose every printed value rests on literals, chance or the clock alone."""
    flow = _Flow(frozenset(number for text in sources for number in _numbers(text)))
    for code in steps:
        flow.read(code)
    by_span: dict[str, list[_Roots]] = {}
    for shown in flow.shown:
        by_span.setdefault(shown.code.span_id, []).append(shown.roots)
    return frozenset(
        span
        for span, roots in by_span.items()
        if any(roots) and all(_is_made_up(each) or not each for each in roots)
    )


def _origin(
    written: str,
    number: str,
    held: frozenset[str],
    shown: Sequence[_Shown],
    steps: Sequence[CodeStep],
    *,
    nothing_worked: bool,
    lacking_since: int | None,
) -> Origin:
    if number in held:
        return Origin(written, OriginKind.SOURCE, fabricated=False)
    by_span: dict[str, list[_Shown]] = {}
    for each in shown:
        by_span.setdefault(each.code.span_id, []).append(each)
    for values in by_span.values():
        code = values[0].code
        gave = number in _numbers(code.printed) or any(value.answers and value.roots for value in values)
        roots = frozenset[_Mark]().union(*(value.roots for value in values))
        lacked = lacking_since is not None and code.step > lacking_since
        if gave and lacked and _is_made_up(roots):
            mark = min(roots, key=lambda each: (each.step, each.line))
            return Origin(
                written,
                mark.kind,
                fabricated=True,
                step=mark.step,
                span_id=mark.span_id,
                line=mark.line,
                source=mark.text,
            )
    if not nothing_worked:
        return Origin(written, OriginKind.SOURCE, fabricated=False)
    for code in steps:
        for at, line in enumerate(code.source.splitlines(), 1):
            if number in _numbers(line):
                return Origin(
                    written,
                    OriginKind.LITERAL,
                    fabricated=True,
                    step=code.step,
                    span_id=code.span_id,
                    line=at,
                    source=line.strip()[:160],
                )
    return Origin(written, OriginKind.NOTHING, fabricated=True)


def _is_made_up(roots: _Roots) -> bool:
    return bool(roots) and all(mark.kind is not OriginKind.SOURCE for mark in roots)


def _stated(answer: str) -> dict[str, str]:
    """The numbers an answer states, as written, by their plain form; small counts and years are left out."""
    found: dict[str, str] = {}
    for match in _NUMBER.finditer(answer[:20_000]):
        plain = _plain(match[0])
        value = float(plain)
        is_year = value.is_integer() and 1900 <= value <= 2100 and "." not in match[0]
        if not is_year and not (value.is_integer() and value <= _SMALL and "." not in match[0]):
            found.setdefault(plain, match[0])
    return found


def _numbers(text: str) -> frozenset[str]:
    return frozenset(map(_plain, _NUMBER.findall(text[:200_000])))


def _plain(number: str) -> str:
    """One spelling: `1,200.50` and `1200.5`."""
    digits = number.replace(",", "")
    return (digits.rstrip("0").rstrip(".") or "0") if "." in digits else digits
