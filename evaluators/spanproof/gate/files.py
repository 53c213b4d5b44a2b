"""Reads assertions from a file: one a line, or YAML.

    assertions:
    - groundedness.score >= 0.85 for at_least 90% of cases
    - metric: code_correctness
      threshold: 0.85
      for: at_least 90% of cases
    - {metric: execution.wall_s, aggregation: p95, operator: "<=", threshold: 10s}
    required_sandbox_pass_rate: 0.95
    presence_eval: ContainsCode
    failure_fields: [exit_code, stderr_class]
    open: ignore
    least_judged: 0.9

The same keys in JSON, or in a mapping of Python's, say the same. An entry with keys is the same assertion
spelt out: it is put together as text and read by the one grammar.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spanproof.gate.assertion import Assertion, Function
from spanproof.gate.errors import BadAssertions, GateError
from spanproof.gate.grammar import parse_assertion, parse_lines
from spanproof.gate.open_policy import OpenPolicy, parse_open_policy
from spanproof.gate.sandbox_runs import FAILURE_FIELDS
from spanproof.sandbox.untrusted_files import (
    MAX_DOCUMENT_BYTES,
    MalformedYamlError,
    UnsafeFileError,
    load_yaml,
    read_bounded,
)
from spanproof.trace import Layer

_KEYS: Final = ("metric", "aggregation", "operator", "threshold", "for", "where")
_TOP: Final = (
    "assertions",
    "required_sandbox_pass_rate",
    "presence_eval",
    "failure_fields",
    "open",
    "least_judged",
)

# Names that evaluators of code presence have, in lower case and without signs between words.
_PRESENCE_NAMES: Final = frozenset(("codepresence", "containscode", "hascode", "iscode", "presence"))
# How much less of the runs may bear code than of the baseline: a fluctuation of that size is ordinary where a
# window holds some hundred runs (the 95 % interval of one half of 400 is 5 points wide on each side).
_PRESENCE_MARGIN: Final = 0.05
_WITHOUT_SCORE: Final = tuple(function.value for function in Function if not function.has_score)


@dataclass(frozen=True, slots=True)
class GateFile:
    """The content of a file of assertions.

    Attributes:
        open_policy: what open verdicts count as.
        least_judged: the share of what could be judged that must be.
        failure_fields: what is listed of runs whose code does not work.
    """

    assertions: tuple[Assertion, ...]
    open_policy: OpenPolicy | None = None
    least_judged: float | None = None
    failure_fields: tuple[str, ...] = FAILURE_FIELDS


def read_gate_file(path: Path, *, has_baseline: bool = False) -> GateFile:
    """Return what a file says; its suffix `.yaml`, `.yml` or `.json` says that it holds a mapping.

    Args:
        path: of the file.
        has_baseline: whether there is a baseline, which `presence_eval` is compared with.

    Raises:
        BadAssertions: the file is none; names the entry and what is expected.
        GateError: an assertion cannot be read, or is refused.
        OSError, UnicodeDecodeError: the file cannot be read.
    """
    try:
        content = read_bounded(path, MAX_DOCUMENT_BYTES)
    except UnsafeFileError as problem:
        raise BadAssertions(str(problem)) from problem
    if path.suffix not in (".yaml", ".yml", ".json"):
        return GateFile(tuple(parse_lines(content.decode("utf-8"))))
    try:
        document = load_yaml(content)
    except MalformedYamlError as problem:
        raise BadAssertions(f"{path}: not YAML: {problem}") from problem
    return parse_gate(document, str(path), has_baseline=has_baseline)


def parse_gate(document: object, path: str = "gate", *, has_baseline: bool = False) -> GateFile:
    """Return what a mapping says, as a file of YAML holds it.

    Args:
        document: the mapping.
        path: where it is from, for errors.
        has_baseline: whether there is a baseline, which `presence_eval` is compared with.

    Raises:
        BadAssertions: it is none; names the entry and what is expected.
    """
    if not isinstance(document, dict) or set(document) - set(_TOP):
        raise BadAssertions(
            f"{path}: expected a mapping with {', '.join(_TOP[:-1])} or {_TOP[-1]},"
            f" got {_format_value(document)}"
        )
    entries = document.get("assertions") or []
    if not isinstance(entries, list):
        raise BadAssertions(f"{path}: assertions must be a list, got {type(entries).__name__}")
    texts = [
        _format_entry(f"{path}: assertions, entry {n}", entry) for n, entry in enumerate(entries, start=1)
    ]
    required = document.get("required_sandbox_pass_rate")
    if required is not None:
        texts.append(f"{Function.SANDBOX_PASS_RATE.value} >= {required}")
    if document.get("presence_eval") is not None:
        texts.append(_format_presence(path, document["presence_eval"], has_baseline=has_baseline))
    found = []
    for text in texts:
        try:
            found.append(parse_assertion(text))
        except GateError as problem:
            raise BadAssertions(f"{path}: {problem}") from problem
    return GateFile(
        tuple(found),
        _find_open_policy(path, document),
        _find_least_judged(path, document),
        _read_failure_fields(path, document),
    )


def _format_presence(path: str, evaluator: object, *, has_baseline: bool) -> str:
    """Return what `presence_eval` asserts: code is as frequent as in the baseline, or is there at all."""
    if not isinstance(evaluator, str):
        raise BadAssertions(f"{path}: presence_eval must name an evaluator, got {_format_value(evaluator)}")
    is_code = re.sub(r"[^a-z]", "", evaluator.lower()) in _PRESENCE_NAMES
    if is_code:
        subject = Function.CODE_PRESENCE.value
    else:
        subject = f"{Function.PRESENCE_RATE.value}({evaluator})"
    if has_baseline:
        return f"{subject} no_worse_than baseline by {_PRESENCE_MARGIN}"
    return f"{subject} > 0"


def _read_failure_fields(path: str, document: Mapping[str, Any]) -> tuple[str, ...]:
    fields = document.get("failure_fields")
    if fields is None:
        return FAILURE_FIELDS
    is_list = isinstance(fields, list)
    if is_list:
        unknown = [field for field in fields if field not in FAILURE_FIELDS]
    else:
        unknown = fields
    if unknown or not is_list:
        choices = ", ".join(FAILURE_FIELDS)
        raise BadAssertions(
            f"{path}: failure_fields must list any of {choices}; got {_format_value(unknown)}"
        )
    return tuple(fields)


def _find_open_policy(path: str, document: Mapping[str, Any]) -> OpenPolicy | None:
    if document.get("open") is None:
        return None
    try:
        return parse_open_policy(path, document["open"])
    except ValueError as problem:
        raise BadAssertions(str(problem)) from problem


def _find_least_judged(path: str, document: Mapping[str, Any]) -> float | None:
    share = document.get("least_judged")
    if share is None:
        return None
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise BadAssertions(f"{path}: least_judged must be a number from 0 to 1, got {share!r}")
    return float(share)


def _format_entry(location: str, entry: object) -> str:
    """Return an entry as the text of an assertion."""
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, dict) or set(entry) - set(_KEYS) or not {"metric", "threshold"} <= entry.keys():
        raise BadAssertions(
            f"{location}: expected an assertion as text, or metric and threshold with any of"
            f" {', '.join(key for key in _KEYS if key not in ('metric', 'threshold'))};"
            f" got {_format_value(entry)}"
        )
    metric, aggregation = str(entry["metric"]), entry.get("aggregation")
    if metric in list(Layer):
        metric = f"{metric}.score"
    is_verdict = entry["threshold"] in ("pass", "fail")
    operator = entry.get("operator", "==" if is_verdict else ">=")
    is_one_number = metric in _WITHOUT_SCORE or metric.startswith(("pass@", "pass^"))
    if is_one_number and (aggregation is not None or "for" in entry):
        raise BadAssertions(f"{location}: {metric} is over all cases; leave out `aggregation` and `for`")
    if is_one_number:
        quantifier = ""
    elif aggregation is None:
        quantifier = f" for {str(entry.get('for', 'all cases')).removeprefix('for ')}"
    else:
        metric, quantifier = f"{aggregation}({metric})", ""
        if "for" in entry:
            raise BadAssertions(f"{location}: {aggregation} is over all cases; leave out `for`")
    where = _format_where(location, entry.get("where"))
    return f"{metric} {operator} {entry['threshold']}{quantifier}{where}"


def _format_where(location: str, where: object) -> str:
    """Return conditions, given as text or as dimensions with their values."""
    if where is None:
        return ""
    if isinstance(where, str):
        return f" where {where.removeprefix('where ')}"
    if not isinstance(where, Mapping):
        raise BadAssertions(
            f"{location}: where must be text, or dimensions with values; got {_format_value(where)}"
        )
    return " where " + " and ".join(f"{name} = {json.dumps(str(value))}" for name, value in where.items())


def _format_value(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 120 else f"{text[:119]}…"
