"""Measure the clusters of whole failed runs: is each run in one cluster, and that the one of its cause?

Usage: python tests/bench/failed_runs.py [RUNS_PER_CAUSE]

Each of 12 causes fails so many runs (200), with names and numbers of its own and one of several wordings.
After the first mistake a run goes on as agents do: it uses the names that the failed step never bound,
repeats the call, goes in circles, answers that it could not. Printed: clusters, the adjusted Rand index of
clusters and causes, clusters a run, and the causes that have no cause or fix in words.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from spanproof.evaluators.engine import Engine
from spanproof.failures import Signature, build_explanation, group_signatures
from spanproof.failures.extract import list_failures
from spanproof.sandbox.scanners.pipeline import Pipeline
from spanproof.trace import (
    ExecutedCode,
    Payload,
    Span,
    SpanError,
    SpanKind,
    StepInfo,
    ToolCall,
    Trace,
    trace_of,
)

RUNS_PER_CAUSE = 200

_START_NS = 1_790_000_000_000_000_000
_STEP_NS = 1_000_000
_ROOT = "a" * 16
_PEOPLE = ("Ada", "Ben", "Chidi", "Dana", "Eve", "Farid", "Greta", "Hiro")
_TABLES = ("orders", "invoices", "shipments", "customers", "refunds")


@dataclass(frozen=True)
class Mistake:
    """The first thing that goes wrong in a run: code with an error, or a call of a tool with one."""

    error: SpanError | None
    source: str = ""
    tool: str = ""
    printed: str = ""
    answer: str = ""


def raise_in_code(error_type: str, message: str) -> Mistake:
    """Return a step whose code raised."""
    return Mistake(SpanError(error_type, message), source="rows = load()")


def fail_call(tool: str, error_type: str, message: str) -> Mistake:
    """Return a call of a tool that raised."""
    return Mistake(SpanError(error_type, message), tool=tool)


def make_forbidden(random: Random) -> Mistake:
    number = random.randrange(10_000)
    return random.choice(
        [
            fail_call("crm", "RuntimeError", f"HTTP 403 from https://crm.test/people/{number}"),
            fail_call("crm", "HTTPError", f"403 Client Error: Forbidden for url: https://crm.test/{number}"),
            fail_call("crm", "ToolError", f"access denied to record {number}"),
        ]
    )


def make_rate_limit(random: Random) -> Mistake:
    number = random.randrange(1, 90)
    return random.choice(
        [
            fail_call("quotes", "ToolError", f"429 Too Many Requests, retry after {number} s"),
            fail_call("quotes", "RateLimitError", f"Error code: 429 - wait {number} s"),
            fail_call("quotes", "Exception", f"rate limit exceeded: {number} calls in 60 s"),
        ]
    )


def make_locked(random: Random) -> Mistake:
    table, number = random.choice(_TABLES), random.randrange(1, 60)
    return random.choice(
        [
            raise_in_code("OperationalError", "database is locked"),
            raise_in_code("DBError", f"deadlock detected, process {number} waits for {table}"),
        ]
    )


def make_refused(random: Random) -> Mistake:
    port = random.randrange(1024, 60_000)
    return random.choice(
        [
            fail_call("search", "ToolError", f"connect ECONNREFUSED 10.0.0.4:{port}"),
            fail_call("search", "InterfaceError", f"port {port} failed: Connection refused"),
        ]
    )


def make_unknown_host(random: Random) -> Mistake:
    number = random.randrange(1, 500)
    return random.choice(
        [
            fail_call("mail", "ToolError", f"getaddrinfo ENOTFOUND smtp{number}.test"),
            fail_call("mail", "OSError", f"could not translate host name smtp{number}.test to address"),
        ]
    )


def make_certificate(random: Random) -> Mistake:
    return random.choice(
        [
            fail_call("vault", "ToolError", "certificate has expired"),
            fail_call("vault", "OSError", f"[SSL: CERTIFICATE_VERIFY_FAILED] failed ({random.random():.4f})"),
        ]
    )


def make_server_error(random: Random) -> Mistake:
    number = random.randrange(10_000)
    return random.choice(
        [
            fail_call("stock", "Exception", f"Server error '502 Bad Gateway' for url 'https://stock.test/{number}'"),
            fail_call("stock", "HTTPError", f"500 Server Error: Internal Server Error for url: https://stock.test/{number}"),
            fail_call("stock", "ToolError", "status code 503"),
        ]
    )  # fmt: skip


def make_missing_key(random: Random) -> Mistake:
    return raise_in_code("KeyError", repr(random.choice(["total", "Order ID", "net_amount", "vat"])))


def make_missing_module(random: Random) -> Mistake:
    return raise_in_code("ModuleNotFoundError", f"No module named '{random.choice(['polars', 'yfinance'])}'")


def make_missing_column(random: Random) -> Mistake:
    return raise_in_code(
        "OperationalError", f"no such column: {random.choice(_TABLES)}.{random.choice('abcd')}"
    )


def make_none(random: Random) -> Mistake:
    name = random.choice(["group", "text", "find_all", "amount"])
    return raise_in_code("AttributeError", f"'NoneType' object has no attribute '{name}'")


def make_misquote(random: Random) -> Mistake:
    amount = random.randrange(2_000, 9_000) / 100
    printed = f"total: ${amount:.2f}\n"
    answer = f"The total is ${amount + random.randrange(1_000, 2_000) / 100:.2f}."
    return Mistake(None, source="print(order.total)", printed=printed, answer=answer)


CAUSES: dict[str, Callable[[Random], Mistake]] = {
    "forbidden": make_forbidden,
    "rate limit": make_rate_limit,
    "locked database": make_locked,
    "refused connection": make_refused,
    "unknown host": make_unknown_host,
    "expired certificate": make_certificate,
    "server error": make_server_error,
    "missing key": make_missing_key,
    "missing module": make_missing_module,
    "missing column": make_missing_column,
    "attribute of None": make_none,
    "misquoted amount": make_misquote,
}


@dataclass(frozen=True)
class Clustered:
    """How well clusters are the causes.

    Attributes:
        memberships: clusters a run, on average.
        unexplained: causes with a cluster that has no name, cause or fix.
    """

    clusters: int
    rand_index: float
    memberships: float
    unexplained: tuple[str, ...]


def measure(runs_per_cause: int, seed: int = 1) -> Clustered:
    """Return how well the clusters of so many runs of each cause are the causes."""
    random = Random(seed)
    signatures: dict[str, Signature] = {}
    members: list[tuple[str, str]] = []
    runs = 0
    for label, trace in iter_runs(random, runs_per_cause):
        runs += 1
        for failure in list_failures(ENGINE.evaluate(trace)):
            signatures.setdefault(failure.signature.fingerprint, failure.signature)
            members.append((label, failure.signature.fingerprint))
    found = group_signatures(signatures)
    labels, groups = [label for label, _ in members], [found[fingerprint] for _, fingerprint in members]
    unexplained = {
        label
        for label, group in zip(labels, groups, strict=True)
        if not all((build_explanation(signatures[group]).cause, build_explanation(signatures[group]).fix))
    }
    index = _load_bench("failures").adjusted_rand(labels, groups)
    return Clustered(len(set(groups)), index, len(members) / runs, tuple(sorted(unexplained)))


ENGINE = Engine(pipeline=Pipeline(), sandbox=None)


def iter_runs(random: Random, runs_per_cause: int) -> Iterator[tuple[str, Trace]]:
    """Yield runs with the cause of each, the causes in turn."""
    for number in range(runs_per_cause):
        for position, (label, make) in enumerate(CAUSES.items()):
            trace_id = f"{number * len(CAUSES) + position + 1:032x}"
            yield label, build_run(trace_id, make(random), random)


def build_run(trace_id: str, mistake: Mistake, random: Random) -> Trace:
    """Return a run with harmless steps, a mistake, and what follows from it."""
    task = f"What does {random.choice(_PEOPLE)} owe for order {random.randrange(1, 9_999)}?"
    builder = RunBuilder(trace_id)
    for _ in range(random.randrange(0, 3)):
        builder.add_code("print('ready')", printed="ready\n")
    if mistake.error is None:
        return build_wrong_answer(builder, task, mistake)
    builder.add_mistake(mistake)
    undefined = SpanError("NameError", "name 'rows' is not defined")
    for _ in range(random.randrange(0, 4)):
        builder.add_code("print(rows)", error=undefined)
    if random.random() < 0.5:
        for _ in range(random.randrange(1, 5)):
            builder.add_mistake(mistake)
    ending = random.choice([None, "I could not find that out.", ""])
    return builder.build(task, ending)


def build_wrong_answer(builder: RunBuilder, task: str, mistake: Mistake) -> Trace:
    """Return a run that gets over a failure, and then answers something else than its output says."""
    builder.add_code("print(order['sum'])", error=SpanError("KeyError", "'sum'"))
    builder.add_code(mistake.source, printed=mistake.printed)
    return builder.build(task, mistake.answer)


class RunBuilder:
    """The spans of one run, in the order in which they begin."""

    def __init__(self, trace_id: str) -> None:
        self._trace_id = trace_id
        self._spans: list[Span] = []

    def add_code(self, source: str, *, error: SpanError | None = None, printed: str | None = None) -> None:
        """Add a step that runs code."""
        number = len(self._spans) + 1
        code = ExecutedCode(source, "spanproof.code.source", "python", logs=printed)
        step = self._make(
            number, SpanKind.CHAIN, f"Step {number}", step=StepInfo(number), code=code, error=error
        )
        self._spans.append(step)

    def add_mistake(self, mistake: Mistake) -> None:
        """Add the code or the call that goes wrong."""
        if not mistake.tool:
            self.add_code(mistake.source, error=mistake.error)
            return
        number = len(self._spans) + 1
        self._spans.append(self._make(number, SpanKind.CHAIN, f"Step {number}", step=StepInfo(number)))
        call = ToolCall(mistake.tool, {"id": number})
        made = self._make(number + 1, SpanKind.TOOL, mistake.tool, tool=call, error=mistake.error)
        self._spans.append(replace(made, parent_id=f"{number:016x}"))

    def build(self, task: str, answer: str | None) -> Trace:
        """Return the trace."""
        output = Payload(answer, answer) if answer is not None else None
        root = self._make(0, SpanKind.AGENT, "agent", agent="agent", input=Payload(task, task), output=output)
        return trace_of([root, *self._spans])

    def _make(self, number: int, kind: SpanKind, name: str, **fields: Any) -> Span:
        at = _START_NS + number * _STEP_NS
        span_id, parent = (_ROOT, None) if number == 0 else (f"{number:016x}", _ROOT)
        return Span(self._trace_id, span_id, parent, name, kind, at, at + _STEP_NS - 1, "spanproof", **fields)


def _load_bench(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"bench_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("runs", nargs="?", type=int, default=RUNS_PER_CAUSE)
    options = parser.parse_args()
    found = measure(options.runs)
    unexplained = ", ".join(found.unexplained) or "none"
    print(
        f"{len(CAUSES)} causes × {options.runs} runs: {found.clusters} clusters, ARI {found.rand_index:.3f},"
        f" {found.memberships:.3f} clusters a run; without cause or fix: {unexplained}"
    )


if __name__ == "__main__":
    main()
