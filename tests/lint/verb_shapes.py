"""Check that the first verb of a function's name states the shape of what it returns.

`python tests/lint/verb_shapes.py` checks the packages of `PACKAGES`, prints each offender as
`file:line: name: what is wrong`, and exits with 1 where there is any. `--distance` counts instead, by first
words, the functions of the whole product that do not hold the rule yet.

A name begins with a verb of `VERBS`, and the annotation of what it returns has the shape of that verb. A
function of a module names an object too ("parse_gate", not "parse"); the class of a method names its object.
Predicates ("is_open", "covers_all") return a bool, and so does nothing else but what `run` and `handle` do.
The language's own idioms ("to_json", "with_label") are free.

Public methods are read as private ones are. Not read: properties, validators, fixtures, context managers,
nested functions, commands, routes, methods that a library calls by its own names, and dataclasses and their
fields, which are nouns.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

if __package__:
    from . import function_names
else:
    import function_names

# Packages whose names hold the rule. The list may only grow.
PACKAGES = (
    "collector/spanproof/alerts/[!orst]*.py",
    "collector/spanproof/alerts/notifiers",
    "collector/spanproof/alerts/rules.py",
    "collector/spanproof/api",
    "collector/spanproof/api/models",
    "collector/spanproof/cli/[eoprw]*.py",
    "collector/spanproof/cli/commands",
    "collector/spanproof/cli/demo",
    "collector/spanproof/cli/input",
    "collector/spanproof/cli/mcp/server.py",
    "collector/spanproof/cli/options",
    "collector/spanproof/cli/output",
    "collector/spanproof/client/errors.py",
    "collector/spanproof/collector/judge_measuring.py",
    "collector/spanproof/collector/periodic.py",
    "collector/spanproof/collector/receive/signals.py",
    "collector/spanproof/collector/stages/jobs.py",
    "collector/spanproof/config",
    "collector/spanproof/store/[kw]*.py",
    "collector/spanproof/store/audit.py",
    "collector/spanproof/store/dead_letters.py",
    "collector/spanproof/store/documents.py",
    "collector/spanproof/store/prompts.py",
    "collector/spanproof/store/trace_listing.py",
    "evaluators/spanproof/agent_process",
    "evaluators/spanproof/benchmarks",
    "evaluators/spanproof/evaluators/[gik]*.py",
    "evaluators/spanproof/evaluators/casetests",
    "evaluators/spanproof/evaluators/custom/[adi]*.py",
    "evaluators/spanproof/evaluators/layers/absent_reads.py",
    "evaluators/spanproof/evaluators/layers/blocks.py",
    "evaluators/spanproof/evaluators/layers/correctness/c*.py",
    "evaluators/spanproof/evaluators/layers/groundedness/[mp]*.py",
    "evaluators/spanproof/evaluators/layers/groundedness/ledger.py",
    "evaluators/spanproof/evaluators/layers/groundedness/recorded.py",
    "evaluators/spanproof/evaluators/layers/groundedness/wrong_results.py",
    "evaluators/spanproof/evaluators/layers/trajectory/[!l]*.py",
    "evaluators/spanproof/evaluators/layers/trajectory/loops.py",
    "evaluators/spanproof/evaluators/runs",
    "evaluators/spanproof/evaluators/structure/[!e]*.py",
    "evaluators/spanproof/experiments",
    "evaluators/spanproof/failures",
    "evaluators/spanproof/gate",
    "evaluators/spanproof/reading/arithmetic.py",
    "evaluators/spanproof/reading/envelopes/[mr]*.py",
    "evaluators/spanproof/reading/lexicon.py",
    "evaluators/spanproof/reading/source_sentences.py",
    "evaluators/spanproof/reading/sql_facts.py",
    "evaluators/spanproof/reading/units.py",
    "evaluators/spanproof/suites",
    "evaluators/spanproof/testing",
    "evaluators/spanproof/trace/[hm]*.py",
    "evaluators/spanproof/trace/dialects/[a-z]*.py",
    "instrumentors/spanproof/instrumentors/content/[d-z]*.py",
    "instrumentors/spanproof/instrumentors/frameworks/*/*.py",
    "instrumentors/spanproof/instrumentors/frameworks/[e-z]*.py",
    "instrumentors/spanproof/instrumentors/provider",
    "instrumentors/spanproof/semconv/[gos]*.py",
    "sandbox/spanproof/sandbox/backends/docker/job.py",
    "sandbox/spanproof/sandbox/backends/docker/profile.py",
    "sandbox/spanproof/sandbox/backends/jail/build_sandbox.py",
    "sandbox/spanproof/sandbox/backends/remote/[jw]*.py",
    "sandbox/spanproof/sandbox/backends/remote/settings.py",
    "sandbox/spanproof/sandbox/errors.py",
    "sandbox/spanproof/sandbox/file_locks.py",
    "sandbox/spanproof/sandbox/limits.py",
    "sandbox/spanproof/sandbox/model.py",
    "sandbox/spanproof/sandbox/supervisor/namespaces/[hu]*.py",
    "sandbox/spanproof/sandbox/supervisor/reduced/processes.py",
    "sandbox/spanproof/sandbox/supervisor/run/job.py",
    "sandbox/spanproof/sandbox/supervisor/seccomp/[af]*.py",
    "sandbox/spanproof/sandbox/supervisor/seccomp/path_arguments.py",
    "sandbox/spanproof/sandbox/supervisor/seccomp/rules.py",
    "sandbox/spanproof/sandbox/supervisor/tape/target.py",
    "sandbox/spanproof/sandbox/supervisor/tape/urls.py",
)


class Shape(StrEnum):
    """What the annotation of a result says."""

    BOOL = "a bool"
    COUNT = "an int"
    ITERATOR = "an iterator"
    MAPPING = "a mapping"
    NOTHING = "None"
    OPTIONAL = "something or None"
    SEQUENCE = "a list, a tuple or a set"
    TEXT = "a str"
    VALUE = "a value"


_CONTAINERS = frozenset({Shape.MAPPING, Shape.SEQUENCE})
# Anything that is there: no None, no bool, and nothing that is empty after one use.
_VALUES = frozenset({Shape.COUNT, Shape.TEXT, Shape.VALUE}) | _CONTAINERS
_ANY = frozenset(Shape)

VERBS: dict[str, frozenset[Shape]] = {
    # One thing that may be missing.
    "find": frozenset({Shape.OPTIONAL}),
    # One thing, or an exception.
    "build": _VALUES,
    "classify": _VALUES,
    "decode": _VALUES,
    "encode": _VALUES,
    "get": _VALUES,
    "parse": _VALUES,
    "read": _VALUES,
    # Several things.
    "group": frozenset({Shape.MAPPING}),
    "iter": frozenset({Shape.ITERATOR}),
    "list": frozenset({Shape.SEQUENCE}),
    "select": _CONTAINERS,
    "split": frozenset({Shape.SEQUENCE}),
    # A number or a judgement; None where there is nothing to compute it of.
    "compare": _VALUES | {Shape.OPTIONAL},
    "compute": _VALUES | {Shape.OPTIONAL},
    "count": frozenset({Shape.COUNT, Shape.SEQUENCE, Shape.MAPPING}),
    "evaluate": _VALUES | {Shape.OPTIONAL},
    # A text.
    "describe": frozenset({Shape.TEXT}),
    "format": frozenset({Shape.TEXT}),
    # What is read from a disk or a network.
    "fetch": _VALUES | {Shape.ITERATOR, Shape.OPTIONAL},
    "load": _VALUES | {Shape.OPTIONAL},
    # What is only done; `check` raises.
    "check": frozenset({Shape.NOTHING}),
    "record": frozenset({Shape.NOTHING}),
    "remove": frozenset({Shape.NOTHING, Shape.COUNT}),
    "write": frozenset({Shape.NOTHING, Shape.COUNT}),
    # What is done, and what became of it where the caller needs that: `close` whether it was in time.
    "add": frozenset({Shape.NOTHING, Shape.SEQUENCE, Shape.VALUE}),
    "close": frozenset({Shape.NOTHING, Shape.BOOL}),
    "open": frozenset({Shape.VALUE}),
    "promote": frozenset({Shape.VALUE}),
    "send": frozenset({Shape.NOTHING, Shape.MAPPING, Shape.VALUE}),
    "start": frozenset({Shape.NOTHING, Shape.VALUE}),
    "update": frozenset({Shape.NOTHING, Shape.VALUE}),
    # What answers an event, waits or calls code of others.
    "handle": _ANY,
    "run": _ANY,
    "wait": _ANY,
}

_IDIOMS = frozenset({"as", "from", "on", "to", "with"})
# Names of the field, as its papers and products write them: `experiments.run`, `evaluate(data, scorers)`.
_TERMS = frozenset({"evaluate", "pass_at_k", "pass_hat_k", "run", "score_answer", "score_run"})
# Methods that click, logging, rich, the import system and OpenTelemetry call by these names.
_LIBRARY_METHODS = frozenset(
    {
        "convert",
        "create_module",
        "emit",
        "exec_module",
        "export",
        "force_flush",
        "instrument",
        "process_renderables",
        "shutdown",
        "uninstrument",
    }
)
# Pydantic's validators check, and return the value that is kept.
_VALIDATORS = frozenset({"field_validator", "model_validator"})
_STATES = frozenset(
    {"are", "can", "did", "does", "had", "has", "is", "may", "must", "needs", "should", "was"}
)
_NAMED_SHAPES = {
    "AsyncGenerator": Shape.ITERATOR,
    "AsyncIterator": Shape.ITERATOR,
    "Counter": Shape.MAPPING,
    "Generator": Shape.ITERATOR,
    "Iterable": Shape.ITERATOR,
    "Iterator": Shape.ITERATOR,
    "Mapping": Shape.MAPPING,
    "NoReturn": Shape.NOTHING,
    "Sequence": Shape.SEQUENCE,
    "Text": Shape.TEXT,  # rich's
    "TypeGuard": Shape.BOOL,
    "TypeIs": Shape.BOOL,
    "bool": Shape.BOOL,
    "dict": Shape.MAPPING,
    "frozenset": Shape.SEQUENCE,
    "int": Shape.COUNT,
    "list": Shape.SEQUENCE,
    "set": Shape.SEQUENCE,
    "str": Shape.TEXT,
    "tuple": Shape.SEQUENCE,
}


@dataclass(frozen=True)
class Offender:
    """A function whose name does not state the shape of its result."""

    line: int
    name: str
    problem: str


def read_shape(function: function_names.Function) -> Shape:
    """Return the shape of what a function returns, by its annotation."""
    returns = function.returns
    if returns is None or ast.unparse(returns) == "None":
        return Shape.NOTHING
    if isinstance(returns, ast.BinOp) and ast.unparse(returns).endswith("| None"):
        return Shape.OPTIONAL
    outer = returns.value if isinstance(returns, ast.Subscript) else returns
    name = outer.attr if isinstance(outer, ast.Attribute) else getattr(outer, "id", "")
    return _NAMED_SHAPES.get(name, Shape.VALUE)


def find_problem(function: function_names.Function, *, in_class: bool) -> str | None:
    """Return what is wrong with a function's name; None where it states what the function returns."""
    first, *rest = function.name.strip("_").split("_")
    shape = read_shape(function)
    if first in _IDIOMS or function.name in _TERMS:
        return None
    if first in _STATES or (first not in VERBS and first.endswith("s")):
        return None if shape is Shape.BOOL else f"reads as a predicate and returns {shape.value}"
    if first not in VERBS:
        return f"{first!r} is no verb of VERBS in tests/lint/verb_shapes.py"
    if shape not in VERBS[first]:
        expected = " or ".join(sorted(each.value for each in VERBS[first]))
        return f"returns {shape.value}; {first!r} returns {expected}"
    if not rest and not in_class:
        return "names no object after its verb"
    return None


def iter_offenders(source: str) -> Iterator[Offender]:
    """Yield the functions of a module, and the methods of its classes, that break the rule."""
    for function, in_class in function_names.iter_functions(ast.parse(source)):
        if function_names.is_named_by_others(function) or _is_called_by_library(function, in_class=in_class):
            continue
        problem = find_problem(function, in_class=in_class)
        if problem is not None:
            yield Offender(function.lineno, function.name, problem)


def _is_called_by_library(function: function_names.Function, *, in_class: bool) -> bool:
    if in_class and function.name in _LIBRARY_METHODS:
        return True
    called = (item.func for item in function.decorator_list if isinstance(item, ast.Call))
    return any(isinstance(name, ast.Name) and name.id in _VALIDATORS for name in called)


def format_distance() -> str:
    """Return how many functions of the product break the rule, by their first words, the most first."""
    total, found = 0, Counter[str]()
    for path in function_names.product_files():
        source = (function_names.ROOT / path).read_text(encoding="utf-8")
        total += sum(1 for _ in function_names.iter_functions(ast.parse(source)))
        found.update(each.name.strip("_").partition("_")[0] for each in iter_offenders(source))
    head = f"{found.total():,} of {total:,} functions, with {len(found)} first words"
    return "\n".join([head, *(f"{count:>5} {word}" for word, count in found.most_common())])


def main() -> int:
    """Print what breaks the rule in the packages that hold it."""
    if sys.argv[1:] == ["--distance"]:
        print(format_distance())
        return 0
    lines = []
    for path in function_names.product_files(PACKAGES):
        source = (function_names.ROOT / path).read_text(encoding="utf-8")
        lines += [f"{path}:{each.line}: {each.name}: {each.problem}" for each in iter_offenders(source)]
    if lines:
        print(*lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
