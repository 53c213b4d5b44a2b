"""Measure the product's Python: its size, the shape of its functions and expressions, its names, four walks.

`python tests/lint/figures.py` prints the figures. `--list NAME` prints one list as `file:line: what`, the
worst first: `files`, `functions`, `statements`, `words` or `one-caller`; PATH... limits it to these files and
folders. `--check` exits with 1 where a function has a complexity over 15, or a statement is dense.

- A *decision* is a branch, a loop, an exception handler or a case; and, in an expression, a ternary, a
  comprehension, and each `and` and `or`.
- The *complexity* of a function is 1 and its decisions, with those of the functions inside it.
- A *dense* statement has more than three decisions in its own expressions; its body is not its own.
- A *private* function begins with an underscore; its callers are the uses of its name in its module.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import mean, median, quantiles

ROOT = Path(__file__).parents[2]
PACKAGES = ("collector", "evaluators", "instrumentors", "sandbox")

# The limits of CONTRIBUTING.md, "Rules".
MAX_COMPLEXITY = 15
MAX_DECISIONS = 3
MAX_LINES = 600

# Names that say nothing to a reader who knows OpenTelemetry, evaluation and Linux.
PRIVATE_WORDS = frozenset(
    {
        "beside",
        "behind",
        "came",
        "each",
        "given",
        "is_ours",
        "known",
        "lost",
        "owns_up",
        "place",
        "said",
        "stands",
    }
)

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)


@dataclass(frozen=True)
class Entry:
    """One line of a list: where it is, what is there, and how much of it."""

    path: str
    line: int
    what: str
    amount: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what} ({self.amount})"


@dataclass(frozen=True)
class Scope:
    """A function, a class or a module: where its own statements are."""

    name: str
    node: ast.AST


@dataclass(frozen=True)
class Module:
    """One file of the product."""

    path: str
    source: str
    tree: ast.Module = field(repr=False)

    @cached_property
    def lines(self) -> int:
        """The number of its lines."""
        return self.source.count("\n")

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of its tree."""
        return tuple(ast.walk(self.tree))

    @cached_property
    def functions(self) -> tuple[tuple[str, Function], ...]:
        """Its functions and methods with their qualified names, nested ones too."""
        return tuple((scope.name, scope.node) for scope in self.scopes if isinstance(scope.node, Function))

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        """The module, its classes and its functions."""
        return tuple(_iter_scopes(self.tree, ""))


def _iter_scopes(node: ast.AST, name: str) -> Iterator[Scope]:
    yield Scope(name or "<module>", node)
    for child in _iter_own(node):
        if isinstance(child, Function | ast.ClassDef):
            yield from _iter_scopes(child, f"{name}.{child.name}".lstrip("."))


def _iter_own(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is below a node, and functions and classes without what is below them."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function | ast.ClassDef):
            yield from _iter_own(child)


def load_modules(below: Iterable[str] = (), root: Path = ROOT) -> list[Module]:
    """Return the files of the product below these paths, or all of them."""
    command = [
        "git",
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "-z",
        "--",
        *(below or PACKAGES),
    ]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    modules = []
    for path in sorted(name for name in listed.split("\0") if name.endswith(".py")):
        if (root / path).is_file():
            modules.append(parse_module(path, (root / path).read_text(encoding="utf-8")))
    return modules


def parse_module(path: str, source: str) -> Module:
    """Return a file's module."""
    return Module(path, source, ast.parse(source))


def count_expression_decisions(nodes: Iterable[ast.AST]) -> int:
    """Return how many ternaries, comprehensions, `and` and `or` are among these nodes."""
    total = 0
    for node in nodes:
        if isinstance(node, ast.IfExp | ast.comprehension):
            total += 1
        elif isinstance(node, ast.BoolOp):
            total += len(node.values) - 1
    return total


def compute_complexity(function: Function) -> int:
    """Return the complexity of a function."""
    nodes = list(ast.walk(function))
    return 1 + sum(isinstance(node, _BRANCHES) for node in nodes) + count_expression_decisions(nodes)


def count_statement_decisions(statement: ast.stmt) -> int:
    """Return how many decisions the expressions of a statement make, without the statements in its body."""
    return count_expression_decisions(_iter_expression_nodes(statement))


def _iter_expression_nodes(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from _iter_expression_nodes(child)


def list_long_files(modules: Iterable[Module]) -> list[Entry]:
    """Return the files with more than 600 lines."""
    return [Entry(m.path, 1, "lines", m.lines) for m in modules if m.lines > MAX_LINES]


def list_complex_functions(modules: Iterable[Module]) -> list[Entry]:
    """Return the functions with a complexity of more than 15."""
    entries = [
        Entry(module.path, function.lineno, name, compute_complexity(function))
        for module in modules
        for name, function in module.functions
    ]
    return [entry for entry in entries if entry.amount > MAX_COMPLEXITY]


def list_dense_statements(modules: Iterable[Module]) -> list[Entry]:
    """Return the statements with more than three decisions, by the functions that hold them."""
    entries = [
        Entry(module.path, node.lineno, scope.name, count_statement_decisions(node))
        for module in modules
        for scope in module.scopes
        for node in _iter_own(scope.node)
        if isinstance(node, ast.stmt)
    ]
    return [entry for entry in entries if entry.amount > MAX_DECISIONS]


def list_private_words(modules: Iterable[Module]) -> list[Entry]:
    """Return where a name is a private word: one entry per file and word, at its first line."""
    entries = []
    for module in modules:
        lines: dict[str, list[int]] = {}
        for name, line in _iter_names(module):
            if name in PRIVATE_WORDS:
                lines.setdefault(name, []).append(line)
        entries += [Entry(module.path, min(found), name, len(found)) for name, found in lines.items()]
    return entries


def _iter_names(module: Module) -> Iterator[tuple[str, int]]:
    for node in module.nodes:
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno


def list_single_callers(modules: Iterable[Module]) -> list[Entry]:
    """Return the private functions that their module uses once, with their lengths."""
    entries = []
    for module in modules:
        uses = _count_uses(module)
        for name, function in module.functions:
            if _is_private(function.name) and uses[function.name] == 1:
                entries.append(Entry(module.path, function.lineno, name, _count_lines(function)))
    return entries


def _count_uses(module: Module) -> Counter[str]:
    names = (node.id if isinstance(node, ast.Name) else node.attr for node in module.nodes if _is_use(node))
    return Counter(names)


def _is_use(node: ast.AST) -> bool:
    return isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _count_lines(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


LISTS = {
    "files": list_long_files,
    "functions": list_complex_functions,
    "statements": list_dense_statements,
    "words": list_private_words,
    "one-caller": list_single_callers,
}


def format_figures(modules: list[Module]) -> str:
    """Return all figures but the walks, a line each."""
    lines = sum(module.lines for module in modules)
    functions = [function for module in modules for _name, function in module.functions]
    lengths = sorted(_count_lines(function) for function in functions)
    single = len(list_single_callers(modules))
    nodes = [node for module in modules for node in module.nodes]
    in_expressions = count_expression_decisions(nodes)
    decisions = in_expressions + sum(isinstance(node, _BRANCHES) for node in nodes)
    ternaries = sum(isinstance(node, ast.IfExp) for node in nodes)
    names = [name for module in modules for name in _iter_defined(module)]
    words = Counter[str]()
    for entry in list_private_words(modules):
        words[entry.what] += entry.amount
    rows = [
        ("files", f"{len(modules):,}"),
        ("lines", f"{lines:,}"),
        ("files over 600 lines", f"{len(list_long_files(modules))}"),
        ("functions", f"{len(functions):,}"),
        (
            "lines of a function, median and p90",
            f"{median(lengths):.0f} and {quantiles(lengths, n=10)[-1]:.0f}",
        ),
        ("private functions with one caller", f"{single:,} ({single / len(functions):.0%} of all functions)"),
        ("decisions in expressions", f"{in_expressions / decisions:.0%}"),
        ("ternaries in 1,000 lines", f"{1000 * ternaries / lines:.1f}"),
        ("statements with more than 3 decisions", f"{len(list_dense_statements(modules)):,}"),
        ("functions of a complexity over 15", f"{len(list_complex_functions(modules))}"),
        ("length of a defined name, mean", f"{mean(map(len, names)):.1f}"),
        ("private words as names", ", ".join(f"{word} {count}" for word, count in words.most_common())),
    ]
    width = max(len(name) for name, _value in rows)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _iter_defined(module: Module) -> Iterator[str]:
    """Yield the names that a module defines: functions, classes, parameters, variables."""
    for node in module.nodes:
        if isinstance(node, Function | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def list_offenders(modules: Iterable[Module]) -> list[str]:
    """Return a line for each function and each statement that decides too much."""
    modules = list(modules)
    functions = [
        f"{entry} has a complexity over {MAX_COMPLEXITY}" for entry in list_complex_functions(modules)
    ]
    statements = [
        f"{entry} has a statement that decides more than {MAX_DECISIONS} things"
        for entry in list_dense_statements(modules)
    ]
    return functions + statements


def main() -> int:
    """Print the figures or a list, or check the rules."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", choices=sorted(LISTS), help="print this list")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a rule is broken")
    parser.add_argument("--walks", action="store_true", help="print the walks of four journeys only")
    parser.add_argument("paths", nargs="*", help="files and folders: all of the product where none is given")
    options = parser.parse_args()
    if options.check:
        lines = list_offenders(load_modules())
        print(*lines, sep="\n", end="\n" if lines else "")
        return 1 if lines else 0
    if options.list:
        entries = LISTS[options.list](load_modules(options.paths))
        print(*sorted(entries, key=lambda entry: -entry.amount), sep="\n")
        return 0
    if not options.walks:
        print(format_figures(load_modules(options.paths)))
    if not options.paths:
        subprocess.run([sys.executable, Path(__file__).with_name("walks.py")], cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
