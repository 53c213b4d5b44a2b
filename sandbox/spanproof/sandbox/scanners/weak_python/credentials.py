"""Credentials in the code, and secrets that can be guessed (CWE-798, 330, 338, and 295 by attribute).

In: an assignment, a comparison, a definition or a call. Out: rule and message; never the value itself.
"""

# ruff: noqa: ARG001 - functions of one table share one signature

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from spanproof.sandbox.catalogue import words_of
from spanproof.sandbox.scanners.python.parse import nodes_below
from spanproof.sandbox.scanners.weak_python.names import WORDS, Names, is_false, says_secret

_PLACEHOLDER: Final = re.compile(
    r"(?i)^(?:|none|null|x+|\*+|\.+|<.{0,80}>|\{.{0,80}\}|%.{0,80}|.{0,80}(?:your|example|change_?me|placeholder|env|todo).{0,80})$"
)
_RANDOM: Final = words_of(WORDS, "random")
_CLOCK: Final = words_of(WORDS, "clock")
_CREDENTIAL: Final = re.compile(
    r"(?i)passw(?:or)?d|passphrase|pwd$|secret|api_?key|auth_?token|access_?key|^token$"
)


def judge_assignment(names: Names, node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, str]]:
    """What is bound to a name that announces a secret."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        name = _name_of(target)
        if node.value is None or not name:
            continue
        if name == "check_hostname" and is_false(node.value):
            yield "weakness.certificate", "host names are not verified"
        if name == "verify_mode" and names.dotted(node.value).endswith("CERT_NONE"):
            yield "weakness.certificate", "certificates are not verified"
        if name == "verify" and isinstance(target, ast.Attribute) and is_false(node.value):
            yield "weakness.certificate", "certificates are not verified"
        if name == "_create_default_https_context":
            yield "weakness.certificate", "certificates are not verified anywhere"
        if _is_credential(name, node.value):
            yield "weakness.credential", f"{name} holds a credential"
        if says_secret(name):
            yield from _judge_guessable(names, name, node.value)


def judge_comparison(names: Names, node: ast.Compare) -> Iterator[tuple[str, str]]:
    """`password == "…"`."""
    if len(node.comparators) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq):
        name = _name_of(node.left)
        if _is_credential(name, node.comparators[0]):
            yield "weakness.credential", f"{name} is compared with a credential"


def judge_definition(names: Names, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    """Defaults of parameters, and functions that make secrets by what is not random enough."""
    arguments = [*node.args.posonlyargs, *node.args.args]
    pairs = list(zip(reversed(arguments), reversed(node.args.defaults), strict=False))
    pairs += [
        (one, value) for one, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value
    ]
    for one, value in pairs:
        if _is_credential(one.arg, value):
            yield "weakness.credential", f"the parameter {one.arg} has a credential as its default"
    if says_secret(node.name):
        for inner in nodes_below(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                yield from _judge_guessable(names, node.name, names.behind(inner.value))


def judge_credentials(names: Names, call: ast.Call) -> Iterator[tuple[str, str]]:
    """`connect(password="…")`."""
    for one in call.keywords:
        if one.arg is not None and _is_credential(one.arg, one.value):
            yield "weakness.credential", f"{one.arg} is handed over as a literal"


def _judge_guessable(names: Names, name: str, value: ast.expr) -> Iterator[tuple[str, str]]:
    for inner in names.calls_in(value):
        called = names.dotted(inner.func)
        if called.startswith("random.") and called[7:] in _RANDOM:
            yield "weakness.random", f"{name} is made by {called}, which can be predicted"
            return
        if called in _CLOCK:
            yield "weakness.predictable", f"{name} is made by {called}, which can be guessed"
            return


def _is_credential(name: str, value: ast.expr) -> bool:
    return (
        bool(_CREDENTIAL.search(name))
        and isinstance(value, ast.Constant)
        and isinstance(value.value, str)
        and not _PLACEHOLDER.match(value.value)
        and not value.value.endswith(("/", "_", ":"))
        and " " not in value.value
        and value.value.lower() != name.lower()
    )


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""
