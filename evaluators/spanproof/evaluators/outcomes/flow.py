"""Data flow over the Python of a run: the sources and literals that each shown value comes from.

In: executed snippets in order, and what the sources hold. Out: `ShownValue`s with their `ValueRoot`s: a
source, or the literals, draws and clock readings they rest on. Control flow is followed on every path, so a
value that may rest on a source does. Code is parsed, never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from spanproof.evaluators.actions import ANSWER_TOOLS
from spanproof.evaluators.outcomes.literals import (
    FROM_SOURCE,
    LiteralData,
    Role,
    ValueRoot,
    find_collection_data,
    find_default_data,
    find_number_data,
    find_query_data,
    find_text_data,
)
from spanproof.evaluators.outcomes.model import OriginKind
from spanproof.reading.answer_words import calls_made_up, list_topics
from spanproof.reading.numerals import list_numbers
from spanproof.reading.python_facts import (
    BUILTIN_NAMES,
    find_python_facts,
    get_function_name,
    list_bound_names,
    list_called_names,
    list_texts,
)
from spanproof.reading.python_names import NAMES
from spanproof.reading.source_values import SourceValues
from spanproof.reading.sql_queries import is_constant

Roots = frozenset[ValueRoot]
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_NONE: Roots = frozenset()
_SOURCED: Roots = frozenset({FROM_SOURCE})

_CHANCE_MODULES = frozenset({"random", "numpy", "np", "secrets", ""})
_CLOCK_MODULES = frozenset({"datetime", "time", "pandas", "pd"})
# Functions whose first argument is a place, and whose others are what to take where nothing is there.
_LOOKUPS = frozenset({"get", "pop", "getattr", "next", "setdefault", "fillna"})
# Functions whose arguments say only how many or from where.
_COUNTERS = frozenset({"range", "seed", "RandomState", "default_rng", "linspace"})

_MAX_DEPTH = 4
_MAX_MARKS = 64


@dataclass(frozen=True, slots=True)
class CodeStep:
    """One executed Python snippet.

    Attributes:
        printed: what it showed.
        working_tools: tools whose calls gave something in it.
        failing_tools: tools of which every call in it failed.
        is_stopped: it was stopped before its end.
        is_query: it is SQL made of constants alone.
        swallows_failure: a tool failed in it, and it went on to a good end.
        found_nothing: a tool that it called came back empty.
        hands_over: it only hands over an answer written down in it, which supports no value.
    """

    step: int
    span_id: str
    source: str
    printed: str
    working_tools: frozenset[str] = frozenset()
    failing_tools: frozenset[str] = frozenset()
    is_stopped: bool = False
    is_query: bool = False
    swallows_failure: bool = False
    found_nothing: bool = False
    hands_over: bool = False


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value that code printed or handed over.

    Attributes:
        answers: it was handed over as the answer.
        label: text written before it on its line; empty where there is none.
        written: numbers of the texts it is made of.
    """

    code: CodeStep
    roots: Roots
    answers: bool
    label: str = ""
    written: frozenset[str] = frozenset()


@dataclass(slots=True)
class DataFlow:
    """The roots of each name, statement by statement, over all snippets of a run."""

    sources: SourceValues
    names: dict[str, Roots] = field(default_factory=dict)
    functions: dict[str, tuple[_Definition, CodeStep]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    shown: list[ShownValue] = field(default_factory=list)
    code: CodeStep = CodeStep(0, "", "", "")
    made_up: bool = False
    naming: str = ""
    in_handler: bool = False
    as_default: bool = False
    loops: int = 0
    depth: int = 0
    returned: list[Roots] = field(default_factory=list)

    def handle_code(self, code: CodeStep) -> None:
        """Follow the values through one snippet."""
        if code.is_query:
            self._handle_query(code)
            return
        facts = find_python_facts(code.source)
        if facts is None:
            return
        self.code, self.made_up = code, calls_made_up(code.source)
        try:
            self._handle_block(facts.tree.body)
        except RecursionError:
            self.shown.append(ShownValue(code, _SOURCED, answers=False))

    def _handle_query(self, code: CodeStep) -> None:
        """Take the values that a query writes down."""
        self.code, self.made_up = code, calls_made_up(code.source)
        node = ast.Constant(code.source, lineno=1)
        roots = self._get_mark_roots(find_query_data(code.source, self.sources), node)
        self.shown.append(ShownValue(code, roots, answers=False))

    def _handle_block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._handle_statement(statement)

    def _handle_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.functions[node.name] = (node, self.code)
            case ast.ClassDef():
                self._handle_class(node)
            case ast.Import() | ast.ImportFrom():
                self._record_import(node)
            case ast.Assign():
                for target in node.targets:
                    with self._named(target):
                        self._handle_assignment(target, node.value)
            case ast.AnnAssign() if node.value is not None:
                with self._named(node.target):
                    self._handle_assignment(node.target, node.value)
            case ast.AugAssign():
                with self._named(node.target):
                    self._add(node.target, self._get_roots(node.value))
            case ast.Return():
                self.returned.append(self._get_roots(node.value) if node.value is not None else _NONE)
            case ast.Expr():
                self._handle_expression(node.value)
            case _:
                self._handle_control(node)

    def _handle_class(self, node: ast.ClassDef) -> None:
        """Follow the methods of a class; its attributes are values of its name."""
        self._handle_block(part for part in node.body if isinstance(part, ast.FunctionDef))
        for part in node.body:
            if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None:
                with self._named(part.targets[0] if isinstance(part, ast.Assign) else part.target):
                    self._add(ast.Name(node.name), self._get_roots(part.value))
        self.functions.setdefault(node.name, (node, self.code))

    def _handle_control(self, node: ast.stmt) -> None:
        """Follow the blocks of a loop, a branch, a `with` or a `try`."""
        match node:
            case ast.For() | ast.AsyncFor():
                self._update_names(node.target, self._get_roots(node.iter))
                with self._looping():
                    self._handle_block(node.body)
                    self._handle_block(node.body)  # what a turn leaves the next one finds
                self._handle_block(node.orelse)
            case ast.While():
                with self._looping():
                    self._handle_block(node.body)
                self._handle_block(node.orelse)
            case ast.If():
                self._handle_branches([node.body, node.orelse])
            case ast.Match():
                self._handle_branches([case.body for case in node.cases])
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    if item.optional_vars is not None:
                        self._update_names(item.optional_vars, self._get_roots(item.context_expr))
                self._handle_block(node.body)
            case ast.Try():
                self._handle_try(node)

    def _handle_branches(self, blocks: Iterable[list[ast.stmt]]) -> None:
        """Follow each branch from the same start; a name then has the roots of all of them."""
        before, after = dict(self.names), dict[str, Roots]()
        for block in blocks:
            self.names = dict(before)
            self._handle_block(block)
            for name, roots in self.names.items():
                after[name] = after.get(name, _NONE) | roots
        self.names = after

    def _handle_try(self, node: ast.Try) -> None:
        start = dict(self.names)
        self._handle_block([*node.body, *node.orelse])
        if self._may_fail(node.body):
            bound = frozenset[str]().union(*map(list_bound_names, node.body))
            # What a name held before is what is left of it where the body did not come to its end.
            for name in bound & start.keys():
                self.names[name] = self.names.get(name, _NONE) | _with_default_marks(start[name])
        before, self.in_handler = self.in_handler, True
        for handler in node.handlers:
            if handler.name:
                self.names[handler.name] = _NONE
            self._handle_block(handler.body)
        self.in_handler = before
        self._handle_block(node.finalbody)

    def _may_fail(self, body: Iterable[ast.stmt]) -> bool:
        """Whether statements call a tool that failed in this code."""
        return self.code.swallows_failure and any(
            list_called_names(part) & self.code.failing_tools for part in body
        )

    def _record_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                module = node.module or ""
            else:
                module = alias.name
            self.modules[(alias.asname or alias.name).partition(".")[0]] = module.partition(".")[0]

    def _handle_expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.Await):
            node = node.value
        if not isinstance(node, ast.Call):
            self._record_shown(self._get_roots(node), [node], answers=False)
            return
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(node.func, ast.Name) and node.func.id in {"print", "display", *ANSWER_TOOLS}:
            roots = _build_union(map(self._get_roots, arguments))
            self._record_shown(roots, arguments, answers=node.func.id in ANSWER_TOOLS)
            return
        roots = self._get_roots(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in NAMES.fillers:
            self._add(node.func.value, roots)
        else:
            self._record_shown(roots, arguments, answers=False)

    def _record_shown(self, roots: Roots, arguments: Iterable[ast.expr], *, answers: bool) -> None:
        texts = [text for argument in arguments for text in list_texts(argument)]
        label = next((text.strip() for text in texts if len(text.strip()) > 2), "")
        written = frozenset[str]().union(*map(list_numbers, texts))
        self.shown.append(ShownValue(self.code, roots, answers, label, written))

    @contextmanager
    def _named(self, target: ast.expr) -> Iterator[None]:
        before, self.naming = self.naming, ast.unparse(target)[:80]
        yield
        self.naming = before

    @contextmanager
    def _looping(self) -> Iterator[None]:
        self.loops += 1
        yield
        self.loops -= 1

    def _handle_assignment(self, target: ast.expr, value: ast.expr) -> None:
        both = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
        if both and len(target.elts) == len(value.elts):  # type: ignore[attr-defined]
            pairs = zip(target.elts, value.elts, strict=True)  # type: ignore[attr-defined]
            assigned = []
            for name, part in pairs:
                with self._named(name):
                    assigned.append((name, self._get_roots(part)))
            for name, roots in assigned:
                self._update_names(name, roots)
        else:
            self._update_names(target, self._get_roots(value))

    def _update_names(self, target: ast.expr, roots: Roots) -> None:
        if isinstance(target, ast.Name) and not self.in_handler:
            self.names[target.id] = roots
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._update_names(part, roots)
        elif isinstance(target, ast.Starred):
            self._update_names(target.value, roots)
        else:
            self._add(target, roots)

    def _add(self, target: ast.expr, roots: Roots) -> None:
        while isinstance(target, ast.Attribute | ast.Subscript | ast.Call):
            if isinstance(target, ast.Call):
                target = target.func
            else:
                target = target.value
        if isinstance(target, ast.Name):
            joined = self.names.get(target.id, _NONE) | roots
            self.names[target.id] = joined if len(joined) <= _MAX_MARKS else joined | _SOURCED

    def _get_roots(self, node: ast.AST) -> Roots:
        match node:
            case ast.Constant():
                return self._get_constant_roots(node)
            case ast.Name():
                return self._get_name_roots(node.id)
            case ast.Call():
                return self._get_call_roots(node)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                return self._get_collection_roots(node)
            case ast.Lambda(body=inner) | ast.Subscript(value=inner) | ast.FormattedValue(value=inner):
                return self._get_roots(inner)
            case ast.NamedExpr():
                self._update_names(node.target, self._get_roots(node.value))
                return self._get_roots(node.target)
            case ast.Compare() | ast.Slice():
                parts = [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.Constant)]
                return _build_union(map(self._get_roots, parts))
            case ast.BoolOp() if isinstance(node.op, ast.Or):
                return self._get_roots(node.values[0]) | self._get_default_roots(node.values[1:])
            case ast.IfExp():
                return self._get_roots(node.body) | self._get_default_roots([node.orelse])
            case ast.JoinedStr():
                # A number of the task in the words around a value does not support that value.
                words = [part for part in node.values if isinstance(part, ast.Constant)]
                values = _list_variable(node.values)
                of_words = _build_union(map(self._get_roots, words))
                return _build_union(map(self._get_roots, values)) | (of_words - _SOURCED)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._get_comprehension_roots([node.elt], node.generators)
            case ast.DictComp():
                return self._get_comprehension_roots([node.key, node.value], node.generators)
        return _build_union(map(self._get_roots, ast.iter_child_nodes(node)))

    def _get_comprehension_roots(self, results: list[ast.expr], generators: list[ast.comprehension]) -> Roots:
        for generator in generators:
            self._update_names(generator.target, self._get_roots(generator.iter))
        with self._looping():
            return _build_union(map(self._get_roots, [*results, generators[0].iter]))

    def _get_default_roots(self, nodes: Iterable[ast.expr]) -> Roots:
        before, self.as_default = self.as_default, True
        found = _build_union(map(self._get_roots, nodes))
        self.as_default = before
        return found

    def _get_name_roots(self, name: str) -> Roots:
        if name in self.names:
            found = self.names[name]
            if self._handles_failure:
                return _with_default_marks(found)
            return found
        is_own = name in self.functions or name in self.modules or name in BUILTIN_NAMES | NAMES.pure_modules
        return _NONE if is_own else _SOURCED  # given from outside the code: a variable of the task

    @property
    def _handles_failure(self) -> bool:
        """Whether the code is in a handler, and a tool failed in this snippet."""
        return self.in_handler and self.code.swallows_failure

    def _get_constant_roots(self, node: ast.Constant) -> Roots:
        value = node.value
        if isinstance(value, str):
            lacks_value = self.code.swallows_failure or self.code.found_nothing
            is_default = self._handles_failure or (self.as_default and lacks_value)
            data = find_text_data(value, self.sources)
            if is_default and (data is None or data.role is Role.TEXT):
                data = find_default_data(value, self.sources) or data
            return self._get_mark_roots(data, node)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return _NONE
        return self._get_mark_roots(find_number_data(value, self.naming, self.sources), node)

    def _get_collection_roots(self, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Roots:
        data = find_collection_data(node, self.naming, self.sources)
        variable = [part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Call)]
        if data is None and not variable:
            return _build_union(map(self._get_roots, ast.iter_child_nodes(node)))
        return _build_union(map(self._get_roots, variable)) | self._get_mark_roots(data, node)

    def _get_mark_roots(self, data: LiteralData | None, node: ast.expr) -> Roots:
        """Return the mark of data where the code writes it down."""
        if data is None:
            return _NONE
        if data.sourced:
            return _SOURCED
        if self.in_handler or self.as_default:
            kind = OriginKind.DEFAULT
        else:
            kind = OriginKind.LITERAL
        return frozenset({self._build_mark(kind, data, node)})

    def _build_mark(self, kind: OriginKind, data: LiteralData, node: ast.expr) -> ValueRoot:
        lines = self.code.source.splitlines()
        text = lines[node.lineno - 1].strip() if 0 < node.lineno <= len(lines) else ""
        is_default_text = bool(data.cells) and data.role is Role.TEXT
        return ValueRoot(
            kind,
            data.role,
            self.code.step,
            self.code.span_id,
            node.lineno,
            text[:160],
            data.words | list_topics(self.naming),
            data.numbers,
            data.specific,
            data.cells,
            self.made_up,
            self._handles_failure or is_default_text,
        )

    def _get_call_roots(self, node: ast.Call) -> Roots:
        name = get_function_name(node.func)
        if name in self.code.failing_tools:
            return _NONE
        if name in self.code.working_tools:
            return self._get_tool_roots(node)
        parsed = _find_parsed_text(node) if name in NAMES.text_parsers else None
        if parsed is not None:
            return self._get_mark_roots(find_text_data(str(parsed.value), self.sources, is_data=True), parsed)
        if isinstance(node.func, ast.Attribute):
            receiver = self._get_roots(node.func.value)
        else:
            receiver = _NONE
        module = self._find_module(node.func)
        arguments = self._get_argument_roots(node, name)
        if name in NAMES.chance and (module in _CHANCE_MODULES or not receiver):
            return receiver | frozenset({self._build_mark(OriginKind.CHANCE, self._get_draw(node), node)})
        if name in NAMES.clock and module in _CLOCK_MODULES:
            return frozenset({self._build_mark(OriginKind.CLOCK, LiteralData(Role.CLOCK), node)})
        return self._get_result_roots(node, name, module, receiver, arguments)

    def _get_tool_roots(self, node: ast.Call) -> Roots:
        """Return the roots of what a working tool gives: a query of constants gives only these."""
        for part in ast.walk(node):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and is_constant(part.value):
                return self._get_mark_roots(find_query_data(part.value, self.sources), part)
        return _SOURCED

    def _get_draw(self, node: ast.Call) -> LiteralData:
        """Return a draw at random: of many values in a loop, or with a size."""
        has_size = len(node.args) > 2 or any(keyword.arg == "size" for keyword in node.keywords)
        return LiteralData(Role.DRAWS if self.loops > 0 or has_size else Role.DRAW)

    def _get_result_roots(
        self, node: ast.Call, name: str, module: str | None, receiver: Roots, arguments: Roots
    ) -> Roots:
        """Return the roots of what a function returns that is neither a tool, a draw nor a clock."""
        reads_own_values = module in NAMES.pure_modules and bool(arguments) and FROM_SOURCE not in arguments
        if name in NAMES.readers and not reads_own_values:
            return receiver | _SOURCED
        function = self.functions.get(name)
        if function is not None:
            return receiver | arguments | self._get_function_roots(*function, name, node)
        if module is None:
            is_from_outside = isinstance(node.func, ast.Name) and name not in BUILTIN_NAMES
            if is_from_outside:
                return arguments | self._get_name_roots(name)
            return receiver | arguments
        is_pure = module in NAMES.pure_modules or self._is_in_memory(node, module)
        if is_pure:
            return receiver | arguments
        return receiver | arguments | _SOURCED

    def _get_argument_roots(self, node: ast.Call, name: str) -> Roots:
        """Return the roots of a call's arguments; those that only say how it is to be done have none."""
        if name in NAMES.parametrised:
            return _build_union(map(self._get_roots, _list_variable(node.args)))
        first = _build_union(map(self._get_roots, node.args[:1]))
        if name in _LOOKUPS:
            rest = self._get_default_roots(node.args[1:])
        else:
            rest = _build_union(map(self._get_roots, node.args[1:]))
        if name in _COUNTERS:
            return _NONE
        if name == "round":
            return first
        takes_values = name in NAMES.value_keywords or name in self.functions
        for keyword in node.keywords:
            if takes_values or not isinstance(keyword.value, ast.Constant):
                with self._named(ast.Name(keyword.arg or self.naming)):
                    rest |= self._get_roots(keyword.value)
        return first | rest

    def _find_module(self, func: ast.expr) -> str | None:
        """Return the module a function is of, None where it is of none."""
        while isinstance(func, ast.Attribute):
            func = func.value
        if not isinstance(func, ast.Name) or func.id in self.names:
            return None
        # An import may be in code that is not on the trace: `json.loads` is json's all the same.
        return self.modules.get(func.id) or (func.id if func.id in NAMES.pure_modules else None)

    def _is_in_memory(self, node: ast.Call, module: str) -> bool:
        """Whether this opens a database that holds only what the code puts into it."""
        if module not in {"sqlite3", "duckdb"}:
            return False
        return all(isinstance(path, ast.Constant) and path.value == ":memory:" for path in node.args)

    def _get_function_roots(
        self, function: _Definition, defined: CodeStep, name: str, node: ast.Call
    ) -> Roots:
        """Return the roots of what a function of the code returns; its literals are on its own lines."""
        if self.depth >= _MAX_DEPTH or isinstance(function, ast.ClassDef):
            return _NONE
        names, naming, returned = dict(self.names), self.naming, self.returned
        self.depth, self.returned = self.depth + 1, []
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for parameter in parameters:
            self.names[parameter.arg] = _NONE
        for optional, default in _iter_defaults(function.args):
            with self._named(ast.Name(optional)):
                self.names[optional] = self._get_roots(default)
        for parameter, value in zip(parameters, node.args, strict=False):
            self.names[parameter.arg] = self._get_roots(value)
        for keyword in node.keywords:
            if keyword.arg is not None:
                self.names[keyword.arg] = self._get_roots(keyword.value)
        self.naming = f"{naming} {name}"
        code = self.code
        self.code = replace(code, step=defined.step, span_id=defined.span_id, source=defined.source)
        self._handle_block(function.body)
        found = _build_union(self.returned)
        self.names, self.naming, self.returned, self.code = names, naming, returned, code
        self.depth -= 1
        return found


def _iter_defaults(arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters that have a default, with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    optional = positional[len(positional) - len(arguments.defaults) :]
    for parameter, default in zip(optional, arguments.defaults, strict=True):
        yield parameter.arg, default
    for parameter, keyword_default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if keyword_default is not None:
            yield parameter.arg, keyword_default


def _list_variable(nodes: Iterable[ast.AST]) -> list[ast.AST]:
    """Return the nodes that are no constants."""
    return [node for node in nodes if not isinstance(node, ast.Constant)]


def _find_parsed_text(node: ast.Call) -> ast.Constant | None:
    """Return the text that a call reads: what its method is of, or its first argument."""
    receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
    for part in (*receiver, *node.args[:1]):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            return part
    return None


def _with_default_marks(roots: Roots) -> Roots:
    """Return the roots with literals marked as put in place of what failed."""
    return frozenset(
        replace(mark, kind=OriginKind.DEFAULT, instead=True) if mark.kind is OriginKind.LITERAL else mark
        for mark in roots
    )


def _build_union(roots: Iterable[Roots]) -> Roots:
    return frozenset[ValueRoot]().union(*roots)
