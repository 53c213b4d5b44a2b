"""The scanner of Jinja templates: what expressions reach beyond the values that they are rendered with.

In: a template. Out: findings for walks through the interpreter's internals, calls that start programs, read
files or take the application's settings, and templates included from outside. Names that are put together
(`'__cla' ~ 'ss__'`) are folded first. The template is parsed by Jinja and never rendered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from jinja2 import Environment, TemplateSyntaxError, nodes

from spanproof.sandbox.scanners.boundary import Action
from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.model import Verdict
from spanproof.sandbox.scanners.source import START, Place, Source
from spanproof.sandbox.words import split_words

_INTERNAL: Final = re.compile(
    r"_TemplateReference\w*|__\w+__|mro"
    r"|(?:f|gi|cr|ag|tb|func)_(?:frame|back|globals|builtins|locals|code)"
)
# Names that are put together from parts with these are the interpreter's.
_PARTS: Final = re.compile(r"__\w|\w__")
_STARTING: Final = split_words(
    "popen system Popen check_output check_call getoutput getstatusoutput spawn exec eval execfile"
    " import_module load_module _load_module fork open_code run_code"
)
_CODE: Final = _STARTING | {"__import__", "getattr", "globals"}
_SETTINGS: Final = split_words("config settings environ env")
_SECRET: Final = re.compile(r"(?i)secret|passw|token|api_?key|private_?key|credential|_key$")
_MOST_CHARACTERS: Final = 4_096
# Turns of a loop over `range`; a page has no use for more.
_MOST_TURNS: Final = 10_000_000


@lru_cache(maxsize=1)
def _build_environment() -> Environment:
    extensions = ["jinja2.ext.do", "jinja2.ext.loopcontrols", "jinja2.ext.debug", "jinja2.ext.i18n"]
    return Environment(extensions=extensions)  # noqa: S701 - nothing is rendered


def scan(context: Context, source: Source) -> None:
    """Report what a template would reach beyond its values."""
    try:
        template = _build_environment().parse(source.text)
    except (TemplateSyntaxError, RecursionError) as problem:
        context.add("jinja.syntax", START, f"does not parse as a template: {problem}"[:120])
        if _PARTS.search(source.text):
            context.add("jinja.escape.dunder", START, "names the interpreter's internals")
        return
    _Template(context).check_template(template)


class _Template:
    """Judges one template; `texts` are the names that are set to a known text."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.texts: dict[str, str] = {}
        # What the template shows as it is: a text only mentions what it names, an attribute is not called.
        self.shown: set[nodes.Node] = set()
        # Whether no macro calls what it gets, and nothing calls what a call gives.
        self.calls_plainly = False
        # Whether anything may take an attribute by a text, or hand a text to what may.
        self.looks_up = True

    def check_template(self, template: nodes.Template) -> None:
        for assignment in template.find_all(nodes.Assign):
            if isinstance(assignment.node, nodes.Expr):
                text = self._evaluate_text(assignment.node)
            else:
                text = None
            if isinstance(assignment.target, nodes.Name) and text is not None:
                self.texts[assignment.target.name] = text
        for compared in template.find_all(nodes.Compare):
            # A text that is compared only mentions what it names, and an attribute gives true or false.
            sides = [compared.expr, *(operand.expr for operand in compared.ops)]
            self.shown.update(side for side in sides if isinstance(side, nodes.Const | nodes.Getattr))
        for tested in template.find_all((nodes.Test, nodes.Not)):
            self._record_tested(tested)
        self.calls_plainly = _calls_plainly(template)
        self.looks_up = _looks_up(template)
        for condition in template.find_all(nodes.If):
            self._record_tested(condition.test)
        for count, node in enumerate(_iter_nodes(template)):
            if count % 256 == 0:
                self.context.check_time()
            self._check_node(node)

    def _check_node(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Getattr):
            self._check_name(node.attr, node)
        elif isinstance(node, nodes.Getitem):
            self._check_key(node.arg, node)
        elif isinstance(node, nodes.Filter):
            self._check_filter(node)
        elif isinstance(node, nodes.Call):
            self._check_call(node)
        elif isinstance(node, nodes.For) and _count_nested_turns(node) > _MOST_TURNS:
            self._add("resource.endless", node, "goes through more turns than a page needs")
        elif isinstance(node, nodes.Include | nodes.Extends | nodes.Import | nodes.FromImport):
            self._check_included(node)
        elif isinstance(node, nodes.Output):
            self._check_output(node)
        elif isinstance(node, nodes.ExtensionAttribute | nodes.ContextReference):
            self._add("escape.internals", node, "shows the names that the template is rendered with")
        elif isinstance(node, nodes.Concat | nodes.Const):
            text = self._evaluate_text(node)
            is_looked_up = self.looks_up and node not in self.shown
            if is_looked_up and text is not None and _INTERNAL.fullmatch(text):
                self._add("escape.internals", node, f"puts together {text}, a name of the interpreter's")

    def _check_name(self, name: str, node: nodes.Node) -> None:
        """Judge an attribute or a key by its name."""
        if _INTERNAL.fullmatch(name):
            self._add("escape.dunder", node, f"walks through {name} into the interpreter")
        elif name in _STARTING and node not in self.shown:
            self._add("process.start", node, f"reaches {name}, which starts programs or runs code")
        elif name == "environ":
            self._add("environment.read", node, "reads the environment", Verdict.REVIEW)
        elif _is_settings(node) and (name == "items" or _SECRET.search(name)):
            self._add("environment.read", node, f"reads {name} of the application's settings")

    def _check_key(self, key: nodes.Expr, node: nodes.Node) -> None:
        text = self._evaluate_text(key)
        if text is not None:
            self._check_name(text, node)
        elif _list_names(key) & {"request"}:
            self._add("attribute.dynamic", node, "takes an attribute that the request names")

    def _check_filter(self, node: nodes.Filter) -> None:
        """Judge the attributes that filters take by name: `attr`, `map(attribute=…)`, `sort`."""
        if node.name in _SHOWING_FILTERS:
            return
        arguments = [*node.args, *(keyword.value for keyword in node.kwargs)]
        for argument in arguments:
            text = self._evaluate_text(argument)
            if text is not None:
                for part in text.split("."):
                    self._check_name(part, node)
            elif node.name == "attr":
                self._add("attribute.dynamic", node, "takes an attribute that is not known")

    def _check_call(self, node: nodes.Call) -> None:
        called = node.node
        first = node.args[0] if node.args else None
        if not isinstance(called, nodes.Name):
            return
        if called.name == "open":
            text = self._evaluate_text(first) if first is not None else None
            crossing = self.context.boundary.evaluate_path(Action.READ, (text,))
            self.context.handle_crossing("jinja", crossing, _get_place(node), "open:")
        elif called.name == "range" and any(_count_turns(one) > _MOST_TURNS for one in node.args):
            self._add("resource.endless", node, "counts further than a page needs")
        elif called.name in _CODE:
            self._add("process.start", node, f"calls {called.name}, which starts programs or runs code")

    def _check_included(self, node: nodes.Include | nodes.Extends | nodes.Import | nodes.FromImport) -> None:
        """Judge a template of another file, by its path below the folder of templates."""
        template = node.template
        names = template.items if isinstance(template, nodes.List | nodes.Tuple) else [template]
        for one in names:
            text = self._evaluate_text(one)
            if text is None:
                self._add("file.dynamic", node, "includes a template that is not known")
            elif text.startswith(("/", "~")) or ".." in text.split("/"):
                crossing = self.context.boundary.evaluate_path(Action.READ, (text,))
                self.context.handle_crossing("jinja", crossing, _get_place(node), "an included template:")

    def _check_output(self, node: nodes.Output) -> None:
        for shown in node.nodes:
            self._record_shown(shown)
            if isinstance(shown, nodes.Name) and shown.name in {"config", "settings", "environ"}:
                self._add(
                    "environment.read",
                    node,
                    f"shows {shown.name}, the application's settings",
                    Verdict.REVIEW,
                )

    def _record_shown(self, node: nodes.Node) -> None:
        """Note what an expression shows as it is: itself, one of two, or what a filter of texts changes."""
        if isinstance(node, nodes.Const | nodes.Getattr):
            self.shown.add(node)
        elif isinstance(node, nodes.CondExpr):
            self._record_tested(node.test)
            for one in (node.expr1, node.expr2):
                if one is not None:
                    self._record_shown(one)
        elif isinstance(node, nodes.Filter) and node.node is not None and node.name in _SHOWING_FILTERS:
            self._record_shown(node.node)
        elif isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and self.calls_plainly:
            for argument in node.args:
                self._record_shown(argument)

    def _record_tested(self, test: nodes.Node) -> None:
        """Note the attributes that a condition only tests: they are not called."""
        if isinstance(test, nodes.Getattr):
            self.shown.add(test)
        elif isinstance(test, nodes.Not | nodes.Test):
            self._record_tested(test.node)
        elif isinstance(test, nodes.And | nodes.Or):
            self._record_tested(test.left)
            self._record_tested(test.right)

    def _evaluate_text(self, node: nodes.Expr | None) -> str | None:
        """Return the text of an expression; None where it is not known, or is longer than a name."""
        if isinstance(node, nodes.Const | nodes.TemplateData):
            value = node.value if isinstance(node, nodes.Const) else node.data
            return str(value) if isinstance(value, str | int) else None
        if isinstance(node, nodes.Name):
            return self.texts.get(node.name)
        if isinstance(node, nodes.Concat):
            return _compute_joined([self._evaluate_text(part) for part in node.nodes])
        if isinstance(node, nodes.Add):
            return _compute_joined([self._evaluate_text(node.left), self._evaluate_text(node.right)])
        if isinstance(node, nodes.Mul):
            return self._evaluate_repetition(node)
        if isinstance(node, nodes.Filter):
            return self._evaluate_filter(node)
        return None

    def _evaluate_repetition(self, node: nodes.Mul) -> str | None:
        text, count = self._evaluate_text(node.left), self._evaluate_text(node.right)
        if text is None or count is None or not count.isdigit() or len(text) * int(count) > _MOST_CHARACTERS:
            return None
        return text * int(count)

    def _evaluate_filter(self, node: nodes.Filter) -> str | None:
        if node.name == "join" and isinstance(node.node, nodes.List | nodes.Tuple):
            separator = self._evaluate_text(node.args[0]) if node.args else ""
            parts = [self._evaluate_text(one) for one in node.node.items]
            if separator is None or None in parts:
                return None
            return separator.join(map(str, parts))
        text = self._evaluate_text(node.node)
        arguments = [self._evaluate_text(one) for one in node.args]
        if text is None or None in arguments:
            return None
        if node.name == "replace" and len(arguments) == 2:
            return text.replace(str(arguments[0]), str(arguments[1]))[:_MOST_CHARACTERS]
        if node.name == "format":
            return _compute_format(text, [str(one) for one in arguments])
        change = _TEXT_FILTERS.get(node.name)
        return change(text) if change is not None else None

    def _add(self, rule: str, node: nodes.Node, message: str, verdict: Verdict | None = None) -> None:
        self.context.add(f"jinja.{rule}", _get_place(node), message, verdict)


def _iter_nodes(template: nodes.Node) -> Iterable[nodes.Node]:
    pending = [template]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(node.iter_child_nodes())


def _count_nested_turns(loop: nodes.For) -> int:
    """Return the turns of a loop over `range`, times those of the loops in it, up to the bound."""
    turns = 1
    if isinstance(loop.iter, nodes.Call) and getattr(loop.iter.node, "name", "") == "range":
        turns = max([1, *(_count_turns(one) for one in loop.iter.args)])
    inner = (_count_nested_turns(one) for one in _iter_loops_within(loop))
    return min(turns * max(inner, default=1), _MOST_TURNS + 1)


def _iter_loops_within(loop: nodes.For) -> Iterable[nodes.For]:
    """Yield the loops in the body of a loop, without those that are in these."""
    pending = list(loop.body)
    while pending:
        node = pending.pop()
        if isinstance(node, nodes.For):
            yield node
        else:
            pending.extend(node.iter_child_nodes())


def _count_turns(node: nodes.Node) -> int:
    """Return a number that is written out, also as a power; 0 where it is neither."""
    if isinstance(node, nodes.Pow):
        base, exponent = _count_turns(node.left), _count_turns(node.right)
        turns: int = min(base, _MOST_TURNS) ** min(exponent, 9)
        return turns
    value = node.value if isinstance(node, nodes.Const) else 0
    return abs(value) if isinstance(value, int) else 0


def _is_settings(node: nodes.Node) -> bool:
    owner = getattr(node, "node", None)
    return isinstance(owner, nodes.Name) and owner.name in _SETTINGS


def _calls_plainly(template: nodes.Template) -> bool:
    """Whether a template calls only what has a name of its own: no parameter, and no result of a call."""
    parameters = {name.name for name in template.find_all(nodes.Name) if name.ctx == "param"}
    for call in template.find_all(nodes.Call):
        root = call.node
        while isinstance(root, nodes.Getattr | nodes.Getitem):
            root = root.node
        if not isinstance(root, nodes.Name) or root.name in parameters | {"varargs", "kwargs"}:
            return False
    return True


def _looks_up(template: nodes.Template) -> bool:
    """Whether a template calls, tests, includes or takes an item, or filters by more than shows a text."""
    filters = template.find_all(nodes.Filter)
    others = (
        nodes.Call,
        nodes.Getitem,
        nodes.Test,
        nodes.Include,
        nodes.Import,
        nodes.FromImport,
        nodes.Extends,
    )
    return any(template.find_all(others)) or any(one.name not in _SHOWING for one in filters)


def _list_names(node: nodes.Node) -> set[str]:
    return {one.name for one in _iter_nodes(node) if isinstance(one, nodes.Name)}


def _compute_joined(parts: list[str | None]) -> str | None:
    if None in parts or sum(len(part or "") for part in parts) > _MOST_CHARACTERS:
        return None
    return "".join(part or "" for part in parts)


def _compute_reversed(text: str) -> str:
    return text[::-1]


_TEXT_FILTERS: Final[dict[str, Callable[[str], str]]] = {
    "lower": str.lower,
    "upper": str.upper,
    "trim": str.strip,
    "reverse": _compute_reversed,
    "string": str,
}


# Filters that look for no attribute by the texts that they get.
_SHOWING: Final = split_words(
    "lower upper trim title capitalize replace escape e string length truncate default d join count round"
    " first last"
)
# Filters that give a text of what they get, and look for no attribute in it.
_SHOWING_FILTERS: Final = split_words(
    "lower upper trim title capitalize replace escape e string length truncate default d"
)


def _compute_format(template: str, values: list[str]) -> str | None:
    """Return what `'%c%s'|format(95, 'x')` gives, where the format has no width."""
    if re.search(r"%[^cs%]", template):
        return None
    try:
        kinds = re.findall(r"%([cs])", template)
        pairs = zip(kinds, values, strict=True)
        return template % tuple(chr(int(value)) if kind == "c" else value for kind, value in pairs)
    except (ValueError, OverflowError):
        return None


def _get_place(node: nodes.Node) -> Place:
    line = node.lineno or 1
    return Place(line, 1, line, 1)
