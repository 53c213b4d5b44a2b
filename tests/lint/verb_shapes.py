"""Check that the first verb of a function's name states the shape of what it returns.

`python tests/lint/verb_shapes.py` checks the packages of `PACKAGES` but for the files of `EXEMPT`, prints
each offender as `file:line: name: what is wrong`, and exits with 1 where there is any. `--distance` counts
instead, by first words, the functions of the whole product that do not hold the rule yet.

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
    "collector/spanproof/alerts",
    "collector/spanproof/api",
    "collector/spanproof/cli",
    "collector/spanproof/client",
    "collector/spanproof/collector",
    "collector/spanproof/config",
    "collector/spanproof/store",
    "evaluators",
    "instrumentors",
    "sandbox/spanproof/sandbox/[cfhjlmptuw]*.py",
    "sandbox/spanproof/sandbox/backends/daytona.py",
    "sandbox/spanproof/sandbox/backends/docker/[!b]*.py",
    "sandbox/spanproof/sandbox/backends/docker/build_sandbox.py",
    "sandbox/spanproof/sandbox/backends/e2b.py",
    "sandbox/spanproof/sandbox/backends/jail/[!b]*.py",
    "sandbox/spanproof/sandbox/backends/jail/build_sandbox.py",
    "sandbox/spanproof/sandbox/backends/kubernetes.py",
    "sandbox/spanproof/sandbox/backends/modal.py",
    "sandbox/spanproof/sandbox/backends/remote/[cjmw]*.py",
    "sandbox/spanproof/sandbox/backends/remote/guest/[!l]*.py",
    "sandbox/spanproof/sandbox/backends/remote/service.py",
    "sandbox/spanproof/sandbox/backends/remote/settings.py",
    "sandbox/spanproof/sandbox/backends/self_check",
    "sandbox/spanproof/sandbox/environments",
    "sandbox/spanproof/sandbox/errors.py",
    "sandbox/spanproof/sandbox/guest/[!w]*.py",
    "sandbox/spanproof/sandbox/scanners",
    "sandbox/spanproof/sandbox/supervisor/[!r]*.py",
    "sandbox/spanproof/sandbox/supervisor/re*.py",
    "sandbox/spanproof/sandbox/supervisor/run/[!cs]*.py",
    "sandbox/spanproof/sandbox/supervisor/run/clock.py",
    "sandbox/spanproof/sandbox/supervisor/run/control_channel.py",
    "sandbox/spanproof/sandbox/supervisor/run/st*.py",
)
# Files of these packages whose names do not hold it yet. The list may only shrink.
EXEMPT = (
    "collector/spanproof/cli/app.py",
    "collector/spanproof/cli/mcp/tools.py",
    "collector/spanproof/cli/send_trials.py",
    "collector/spanproof/client/client.py",
    "collector/spanproof/collector/external.py",
    "collector/spanproof/collector/kafka/consumer.py",
    "collector/spanproof/collector/kafka/producer.py",
    "collector/spanproof/collector/kafka/spool.py",
    "collector/spanproof/collector/own_metrics.py",
    "collector/spanproof/collector/pipeline.py",
    "collector/spanproof/collector/receive/accept.py",
    "collector/spanproof/collector/receive/redaction.py",
    "collector/spanproof/collector/receive/server.py",
    "collector/spanproof/collector/receive/sockets.py",
    "collector/spanproof/collector/receive/tenant.py",
    "collector/spanproof/collector/receive/times.py",
    "collector/spanproof/collector/service.py",
    "collector/spanproof/collector/sinks/lane.py",
    "collector/spanproof/collector/sinks/queue.py",
    "collector/spanproof/collector/sinks/sender.py",
    "collector/spanproof/collector/stages/assemble.py",
    "collector/spanproof/collector/stages/attach.py",
    "collector/spanproof/collector/stages/evaluate.py",
    "collector/spanproof/collector/stages/forward.py",
    "collector/spanproof/collector/stages/fragments.py",
    "collector/spanproof/collector/stages/patience.py",
    "collector/spanproof/collector/stages/queued_writer.py",
    "collector/spanproof/collector/stages/request_queue.py",
    "collector/spanproof/collector/stages/write.py",
    "collector/spanproof/collector/ticker.py",
    "collector/spanproof/collector/verdicts/pool.py",
    "collector/spanproof/collector/verdicts/router.py",
    "collector/spanproof/collector/wal/file.py",
    "collector/spanproof/collector/wal/log.py",
    "collector/spanproof/collector/worker.py",
    "evaluators/spanproof/evaluators/plain_functions.py",
    "evaluators/spanproof/trace/ids.py",
    "evaluators/spanproof/trace/state.py",
    "evaluators/spanproof/trace/tree.py",
    "instrumentors/spanproof/instrumentors/budgets.py",
    "instrumentors/spanproof/instrumentors/content/capture.py",
    "instrumentors/spanproof/instrumentors/frameworks/diagnostics.py",
    "instrumentors/spanproof/instrumentors/guard.py",
    "instrumentors/spanproof/instrumentors/registration.py",
    "instrumentors/spanproof/instrumentors/spans/cohort.py",
    "instrumentors/spanproof/instrumentors/spans/contexts.py",
    "instrumentors/spanproof/instrumentors/spans/environment.py",
    "instrumentors/spanproof/instrumentors/spans/fast_span.py",
    "instrumentors/spanproof/instrumentors/spans/tracing.py",
    "instrumentors/spanproof/instrumentors/trace.py",
    "instrumentors/spanproof/instrumentors/user_feedback.py",
    "instrumentors/spanproof/instrumentors/verdict_client.py",
    "instrumentors/spanproof/semconv/definition.py",
)
# Files whose public methods are those of `Store`, `AlertLog` and `Lease`, which the reference of the Python
# API documents, and of a scanner's `Context` and `Source`, which docs/scanners.md does: their other functions
# are read. The list may only shrink.
DOCUMENTED = (
    "collector/spanproof/alerts/replay.py",
    "collector/spanproof/alerts/tickets.py",
    "collector/spanproof/store/alerts.py",
    "collector/spanproof/store/leases.py",
    "collector/spanproof/store/store.py",
    "collector/spanproof/store/upkeep.py",
    "collector/spanproof/store/verdict_reads.py",
    "sandbox/spanproof/sandbox/scanners/context.py",
    "sandbox/spanproof/sandbox/scanners/source.py",
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
    # The same in one form, by which equal things are known.
    "normalise": _VALUES,
    # What is read from a disk or a network.
    "fetch": _VALUES | {Shape.ITERATOR, Shape.OPTIONAL},
    "load": _VALUES | {Shape.OPTIONAL},
    # What is only done; `check` raises, or reports what it finds.
    "check": frozenset({Shape.NOTHING}),
    "record": frozenset({Shape.NOTHING}),
    "remove": frozenset({Shape.NOTHING, Shape.COUNT}),
    "write": frozenset({Shape.NOTHING, Shape.COUNT}),
    # What is done, and what became of it where the caller needs that: `close` whether it was in time.
    "add": frozenset({Shape.NOTHING, Shape.COUNT, Shape.SEQUENCE, Shape.VALUE}),
    "close": frozenset({Shape.NOTHING, Shape.BOOL}),
    "open": frozenset({Shape.COUNT, Shape.VALUE}),  # an int is a file descriptor
    "send": frozenset({Shape.NOTHING, Shape.MAPPING, Shape.VALUE}),
    "start": frozenset({Shape.NOTHING, Shape.VALUE}),
    "update": frozenset({Shape.NOTHING, Shape.VALUE}),
    # What answers an event or one entry of a table, waits or calls code of others.
    "handle": _ANY,
    "run": _ANY,
    "wait": _ANY,
}

_IDIOMS = frozenset({"as", "from", "on", "to", "with", "without"})
# Names of the field, as its papers and products write them: `experiments.run`, `evaluate(data, scorers)`,
# and `scan(context, source)`, which each scanner has, a user's too.
_TERMS = frozenset(
    {
        "cache_short_texts",
        "evaluate",
        "pass_at_k",
        "pass_hat_k",
        "promote_run",
        "replay_run",
        "run",
        "scan",
        "score_answer",
        "score_run",
    }
)
# Methods of the contracts that users implement: `Evaluator`.
_CONTRACTS = frozenset({"judge", "needs"})
# Methods that asyncio, click, http.server, logging, pickle, prometheus_client, rich, selectors, OpenTelemetry
# and imports call by these names.
_LIBRARY_METHODS = frozenset(
    {
        "collect",
        "connection_lost",
        "connection_made",
        "convert",
        "create_module",
        "data_received",
        "do_GET",
        "do_POST",
        "emit",
        "exec_module",
        "export",
        "fileno",
        "filter",
        "force_flush",
        "generate_span_id",
        "generate_trace_id",
        "instrument",
        "log_message",
        "process_renderables",
        "reducer_override",
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


def iter_offenders(source: str, *, is_documented: bool = False) -> Iterator[Offender]:
    """Yield the functions of a module, and the methods of its classes, that break the rule.

    Args:
        source: of the module.
        is_documented: whether the Python API documents its public methods, which are then not read.
    """
    for function, in_class in function_names.iter_functions(ast.parse(source)):
        if is_documented and in_class and not function.name.startswith("_"):
            continue
        if function_names.is_named_by_others(function) or _is_called_by_library(function, in_class=in_class):
            continue
        problem = find_problem(function, in_class=in_class)
        if problem is not None:
            yield Offender(function.lineno, function.name, problem)


def _is_called_by_library(function: function_names.Function, *, in_class: bool) -> bool:
    is_visitor = function.name.startswith("visit_")  # of `ast.NodeVisitor`
    if in_class and (is_visitor or function.name in _LIBRARY_METHODS | _CONTRACTS):
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
    for path in function_names.product_files([*PACKAGES, *(f":!{path}" for path in EXEMPT)]):
        source = (function_names.ROOT / path).read_text(encoding="utf-8")
        offenders = iter_offenders(source, is_documented=path in DOCUMENTED)
        lines += [f"{path}:{each.line}: {each.name}: {each.problem}" for each in offenders]
    if lines:
        print(*lines, sep="\n")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    sys.exit(main())
