"""Weaknesses of generated code by the numbers of the CWE list: advisory, they never change a verdict.

In: Python, JavaScript, TypeScript or bash. Out: findings with a CWE number and a remedy. Python is read from
its tree with imported names resolved; the others by a few bounded patterns, line by line. What crosses the
boundary is no business of this module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from spanproof.sandbox.scanners.context import Context
from spanproof.sandbox.scanners.python.parse import nodes_below
from spanproof.sandbox.scanners.source import Place, Source
from spanproof.sandbox.scanners.weak_python import CALLS, judge_assignment, judge_comparison, judge_definition
from spanproof.sandbox.scanners.weak_python.names import Names
from spanproof.sandbox.words import words

LANGUAGES: Final = frozenset({"python", "javascript", "typescript", "bash"})

_MAY_MATTER: Final = words(
    "execut read_sql text( shell system popen eval exec compile verify _context cert_none check_hostname"
    " autoadd cipher des. des( des3 arc4 blowfish ecb protocol_ md5 sha1 hashlib random uuid1 time( mktemp"
    " debug load extractall markup mark_safe template autoescape resolve_entities feature_external"
    " redirect chmod umask 777 passw secret token apikey api_key pwd request. argv input( no_network load_dtd"
)
"""Words without one of which no rule below can find anything: most snippets are done here."""


def scan(context: Context, source: Source) -> None:
    """Report weaknesses of one source."""
    if source.language == "python":
        if [word for word in _MAY_MATTER if word in source.lowered]:
            _scan_python(context, source)
        return
    for rule, pattern in _PATTERNS["bash" if source.language == "bash" else "javascript"]:
        context.check_time()
        for found in pattern.finditer(source.text):
            context.add(rule, source.place(*found.span()), _MESSAGES[rule])


def _scan_python(context: Context, source: Source) -> None:
    module = source.python.module
    if module is None:
        return
    nodes = nodes_below(module)
    names = Names(nodes)
    lines = source.text.split("\n")
    for count, node in enumerate(nodes):
        if count % 256 == 0:
            context.check_time()
        judges = _JUDGES.get(node.__class__, ())
        for judge in judges:
            try:
                found = list(judge(names, node))
            except RecursionError:
                continue  # nests deeper than can be read; the Python scanner reports it
            for rule, message in found:
                context.add(f"python.{rule}", _place(node, lines), message)  # type: ignore[arg-type]


_JUDGES: Final[dict[type[ast.AST], tuple[Callable[[Names, Any], Iterator[tuple[str, str]]], ...]]] = {
    ast.Call: CALLS,
    ast.Assign: (judge_assignment,),
    ast.AnnAssign: (judge_assignment,),
    ast.Compare: (judge_comparison,),
    ast.FunctionDef: (judge_definition,),
    ast.AsyncFunctionDef: (judge_definition,),
}
"""What judges a node, by its kind: each of these kinds has a place."""


def _place(node: ast.expr | ast.stmt, lines: list[str]) -> Place:
    """A node's place in characters; the tree counts bytes. A definition's place is its first line."""
    end_line = node.end_lineno or node.lineno
    end_offset = node.end_col_offset or 0
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        end_line, end_offset = node.lineno, node.col_offset + 3
    return Place(
        node.lineno,
        _column(lines, node.lineno, node.col_offset),
        end_line,
        _column(lines, end_line, end_offset),
    )


def _column(lines: list[str], line: int, offset: int) -> int:
    text = lines[line - 1] if line <= len(lines) else ""
    if text.isascii():
        return offset + 1
    return len(text.encode("utf-8", "replace")[:offset].decode("utf-8", "ignore")) + 1


_MESSAGES: Final = {
    "javascript.weakness.certificate": "certificates are not verified",
    "javascript.weakness.hash": "a weak hash",
    "javascript.weakness.cipher": "a weak cipher",
    "javascript.weakness.markup": "text becomes markup without being escaped",
    "javascript.weakness.random": "a secret from Math.random",
    "javascript.weakness.sql-text": "a statement is put together from text",
    "shell.weakness.certificate": "certificates are not verified",
    "shell.weakness.permissions": "anyone may write",
    "shell.weakness.code-from-text": "eval of a variable",
}

_PATTERNS: Final = {
    "javascript": (
        (
            "javascript.weakness.certificate",
            re.compile(r"\brejectUnauthorized\s{0,4}:\s{0,4}false\b|NODE_TLS_REJECT_UNAUTHORIZED"),
        ),
        ("javascript.weakness.hash", re.compile(r"\bcreateHash\(\s{0,4}['\"`](?:md5|sha1)['\"`]")),
        (
            "javascript.weakness.cipher",
            re.compile(r"\bcreateCipheriv\(\s{0,4}['\"`](?:des|rc4|bf|aes-\d{3}-ecb)[\w-]{0,12}['\"`]"),
        ),
        (
            "javascript.weakness.markup",
            re.compile(r"\.(?:inner|outer)HTML\s{0,4}\+?=(?!=)|\bdocument\.write\(|\bdangerouslySetInnerHTML\b"),
        ),
        (
            "javascript.weakness.random",
            re.compile(
                r"(?i:secret|token|passw|api_?key|nonce|salt|otp|session)\w{0,20}\s{0,4}=\s{0,4}[^;\n]{0,60}?Math\.random\("
            ),
        ),
        (
            "javascript.weakness.sql-text",
            re.compile(
                r"\.(?:query|execute|run|all|get|exec)\(\s{0,4}(?:`(?i:select|insert|update|delete)\b[^`]{0,300}?\$\{"
                r"|['\"](?i:select|insert|update|delete)\b[^'\"\n]{0,300}['\"]\s{0,4}\+)"
            ),
        ),
    ),
    "bash": (
        (
            "shell.weakness.certificate",
            re.compile(r"\bcurl\b[^\n|;&]{0,200}?\s(?:-[a-zA-Z]{0,6}k[a-zA-Z]{0,6}|--insecure)(?=\s|$)|--no-check-certificate"),
        ),
        (
            "shell.weakness.permissions",
            re.compile(r"\bchmod\s{1,4}(?:-R\s{1,4})?(?:[0-7]{0,2}[0-7][2367]|[ugoa]{0,4}[oa]\+[rwx]{0,3}w[rwx]{0,3}|a?\+w)\b"),
        ),
        ("shell.weakness.code-from-text", re.compile(r"(?m)(?:^|[;&|]\s{0,4})eval\s{1,4}[\"']?\$")),
    ),
}  # fmt: skip
